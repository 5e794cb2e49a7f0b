"""Patterns made of others."""

from __future__ import annotations

import math

import pytest

from testbed.experiment.load import load
from testbed.experiment.model import Experiment
from testbed.experiment.traffic.flow import NO_GROUP, Flow


def experiment(traffic: dict[str, object], **keys: object) -> Experiment:
    return Experiment.model_validate({"controller": "dcqcn", "traffic": traffic, **keys})


def test_mix_is_all_of_its_parts() -> None:
    one = {"pattern": "osu-all-to-all", "hosts": 3, "sizes": ["1 kB"], "iterations": 2}
    mixed = experiment({"pattern": "mix", "payload": "4 kB", "parts": [{"pattern": "incast", "senders": 4}, one, one]})
    flows = mixed.traffic.expand(mixed.context)
    assert mixed.hosts == 5
    assert len(flows) == mixed.traffic.flow_count(mixed.context) == 4 + 12 + 12
    assert [flow.group for flow in flows] == [NO_GROUP] * 4 + [0] * 6 + [1] * 6 + [2] * 6 + [3] * 6
    assert [flow.after for flow in flows[16:]] == [NO_GROUP] * 6 + [2] * 6
    assert {part.payload for part in mixed.traffic.parts} == {4000}  # type: ignore[union-attr]
    again = Experiment.model_validate(mixed.model_dump(mode="json"))
    assert again.model_dump(mode="json") == mixed.model_dump(mode="json")


def test_equal_parts_are_different_traffic() -> None:
    random = {"pattern": "poisson", "hosts": 4, "sizes": "websearch", "load": 0.5}
    mixed = experiment({"pattern": "mix", "parts": [random, random]})
    flows = mixed.traffic.expand(mixed.context)
    assert len({flow.start for flow in flows}) == len(flows) > 20


def test_phases_follow_each_other() -> None:
    parts = [
        {"start": 0, "traffic": {"pattern": "poisson", "sizes": "websearch", "load": 0.5, "label": "a"}},
        {"start": "10 ms", "traffic": {"pattern": "poisson", "sizes": "websearch", "load": 0.5, "label": "b"}},
        {"start": "20 ms", "traffic": {"pattern": "incast", "senders": 4, "size": "1 MB", "stagger": "4 ms"}},
        {"start": "25 ms", "traffic": {"pattern": "incast", "senders": 2}},
    ]
    phases = experiment({"pattern": "phases", "parts": parts}, rack={"hosts": 8})
    flows = phases.traffic.expand(phases.context)
    starts = {label: [flow.start for flow in flows if flow.label == label] for label in "ab"}
    assert 0 < min(starts["a"]) < max(starts["a"]) < 10e-3 < min(starts["b"]) < max(starts["b"]) < 20e-3
    assert [flow.start for flow in flows if flow.size == 1e6] == pytest.approx([20e-3, 24e-3])  # not those of 28, 32 ms
    assert flows[-2:] == [Flow("h1", "h3", math.inf, 25e-3), Flow("h2", "h3", math.inf, 25e-3)]


@pytest.mark.parametrize("ms", [5, 15])
def test_a_phase_that_begins_after_the_end_never_comes(ms: int) -> None:
    whole, short = (load("pattern-switch").apply([f"time.duration={end} ms"]).experiment for end in (25, ms))
    assert set(short.plan.start) == {start for start in whole.plan.start if start < 1e-3 * ms}
    assert short.traffic.start_key == "parts"


def test_exchanges_of_a_phase_that_never_begins_are_left_out() -> None:
    osu = {"pattern": "osu-all-to-all", "hosts": 3, "sizes": ["1 kB"], "iterations": 2}
    parts = [
        {"start": 0, "traffic": {**osu, "start": "12 ms"}},  # not before the next phase
        {"start": "10 ms", "traffic": {"pattern": "incast", "senders": 2}},
        {"start": "20 ms", "traffic": osu},
        {"start": "40 ms", "traffic": osu},  # not within the 30 ms of the run
    ]
    flows = experiment({"pattern": "phases", "parts": parts}).plan
    assert sorted(flows.start.tolist()) == [0.0] * 6 + [10e-3] * 2 + [20e-3] * 6
    assert sorted(flows.after.tolist()) == [NO_GROUP] * 8 + [0] * 6


def test_a_flow_at_the_very_end_of_a_phase_is_left_out_whatever_the_rounding() -> None:
    one = {"pattern": "incast", "senders": 2, "size": "1 MB"}
    parts = [{"start": 0, "traffic": one}, {"start": "20 ms", "traffic": {**one, "stagger": "5 ms"}}]
    phases = experiment({"pattern": "phases", "parts": parts}, time={"duration": "25 ms"})
    assert sorted(phases.plan.start.tolist()) == [0.0, 0.0, 20e-3]
