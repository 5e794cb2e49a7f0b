"""What is listed of experiments."""

from __future__ import annotations

from testbed.experiment.load import available, load


def test_shipped_experiment_has_a_description() -> None:
    for name in available():
        assert load(name).experiment.description
