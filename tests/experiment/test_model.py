"""What follows from the keys of an experiment."""

from __future__ import annotations

from testbed.experiment.load import load


def test_a_changed_experiment_has_another_plan() -> None:
    loaded = load("incast-8")
    assert len(loaded.experiment.plan) == 8
    traffic = load("incast-16").experiment.traffic
    assert len(loaded.experiment.model_copy(update={"traffic": traffic}).plan) == 16
