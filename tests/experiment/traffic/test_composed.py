"""Patterns made of others."""

from __future__ import annotations

import numpy as np
import pytest

from testbed.experiment.load import load
from testbed.experiment.model import Experiment
from testbed.experiment.traffic.flow import NO_GROUP


def experiment(traffic: dict[str, object], **keys: object) -> Experiment:
    return Experiment.model_validate({"controller": "dcqcn", "traffic": traffic, **keys})


def test_mix_is_all_of_its_parts() -> None:
    one = {"pattern": "osu-all-to-all", "hosts": 3, "sizes": ["1 kB"], "iterations": 2}
    mixed = experiment({"pattern": "mix", "payload": "4 kB", "parts": [{"pattern": "incast", "senders": 4}, one, one]})
    plan = mixed.plan
    assert mixed.hosts == 5
    assert len(plan) == mixed.traffic.flow_count(mixed.context) == 4 + 12 + 12
    assert sorted(plan.group.tolist()) == [NO_GROUP] * 4 + [0] * 6 + [1] * 6 + [2] * 6 + [3] * 6
    assert set(plan.group[plan.waits].tolist()) == {1, 3}
    step, flow = plan.tasks.edges[plan.tasks.edges[:, 0] < 0].T
    assert plan.group[flow].tolist() == [1] * 6 + [3] * 6
    for one, awaited in ((step[0], 0), (step[-1], 2)):
        members = plan.tasks.edges[plan.tasks.edges[:, 1] == one, 0]
        assert sorted(members.tolist()) == np.flatnonzero(plan.group == awaited).tolist()
    assert {part.payload for part in mixed.traffic.parts} == {4000}  # type: ignore[union-attr]
    again = Experiment.model_validate(mixed.model_dump(mode="json"))
    assert again.model_dump(mode="json") == mixed.model_dump(mode="json")


def test_packets_are_a_jobs_beside_a_job() -> None:
    job, others = {"pattern": "allreduce", "ranks": 4, "size": "1 MB"}, {"pattern": "incast", "senders": 4}
    beside = {"pattern": "jobs", "jobs": [job]}
    for parts, expected in (([others, others], 1000), ([others, job], 4096), ([beside, others], 4096)):
        mix = {"pattern": "mix", "parts": parts}
        phases = {"pattern": "phases", "parts": [{"start": f"{k} ms", "traffic": p} for k, p in enumerate(parts)]}
        for traffic in (mix, phases):
            made = experiment(traffic, engine="virtual").traffic
            assert {made.payload, *(part.payload for part in made.members())} == {expected}  # type: ignore[union-attr]
    said = experiment({"pattern": "mix", "payload": "1 kB", "parts": [others, job]}, engine="virtual").traffic
    assert said.payload == 1000


def test_equal_parts_are_different_traffic() -> None:
    random = {"pattern": "poisson", "hosts": 4, "sizes": "websearch", "load": 0.5}
    mixed = experiment({"pattern": "mix", "parts": [random, random]})
    assert len(set(mixed.plan.start.tolist())) == len(mixed.plan) > 20


def test_phases_follow_each_other() -> None:
    parts = [
        {"start": 0, "traffic": {"pattern": "poisson", "sizes": "websearch", "load": 0.5, "label": "a"}},
        {"start": "10 ms", "traffic": {"pattern": "poisson", "sizes": "websearch", "load": 0.5, "label": "b"}},
        {"start": "20 ms", "traffic": {"pattern": "incast", "senders": 4, "size": "1 MB", "stagger": "4 ms"}},
        {"start": "25 ms", "traffic": {"pattern": "incast", "senders": 2}},
    ]
    phases = experiment({"pattern": "phases", "parts": parts}, rack={"hosts": 8})
    plan = phases.plan
    starts = {label: [start for start, of in zip(plan.start, plan.label, strict=True) if of == label] for label in "ab"}
    assert 0 < min(starts["a"]) < max(starts["a"]) < 10e-3 < min(starts["b"]) < max(starts["b"]) < 20e-3
    unlabelled = np.array(plan.label) == ""
    assert plan.start[unlabelled & (plan.size == 1e6)] == pytest.approx([20e-3, 24e-3])  # not those of 28, 32 ms
    endless = [(plan.src[i], plan.dst[i], plan.start[i]) for i in np.flatnonzero(np.isinf(plan.size))]
    assert endless == [("h1", "h3", 25e-3), ("h2", "h3", 25e-3)]


@pytest.mark.parametrize("ms", [5, 15])
def test_a_phase_that_begins_after_the_end_never_comes(ms: int) -> None:
    whole, short = (load("pattern-switch").apply([f"time.duration={end} ms"]).experiment for end in (25, ms))
    assert set(short.plan.start) == {start for start in whole.plan.start if start < 1e-3 * ms}
    assert short.traffic.blamed.start == "parts"


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
    assert flows.waits.sum() == 6


def test_a_flow_at_the_very_end_of_a_phase_is_left_out_whatever_the_rounding() -> None:
    one = {"pattern": "incast", "senders": 2, "size": "1 MB"}
    parts = [{"start": 0, "traffic": one}, {"start": "20 ms", "traffic": {**one, "stagger": "5 ms"}}]
    phases = experiment({"pattern": "phases", "parts": parts}, time={"duration": "25 ms"})
    assert sorted(phases.plan.start.tolist()) == [0.0, 0.0, 20e-3]
