"""Jobs in an experiment: their flows, where they are placed, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from testbed.experiment.model import Experiment
from testbed.experiment.traffic.jobs.training import one_forward_one_backward
from testbed.experiment.traffic.plan import Plan
from testbed.experiment.traffic.tasks import Kind, circle_of

RING = {"pattern": "allreduce", "ranks": 4, "size": "64 kB"}


def experiment(traffic: dict[str, Any], **keys: object) -> Experiment:
    return Experiment.model_validate({"controller": "dcqcn", "traffic": traffic, **keys})


def can_all_start(plan: Plan) -> bool:
    return circle_of(len(plan) + len(plan.tasks.steps), plan.tasks.numbered(len(plan))) == []


@pytest.mark.parametrize(
    "traffic",
    [
        RING,
        RING | {"algorithm": "tree"},
        RING | {"algorithm": "halving-doubling"},
        RING | {"pattern": "allgather"},
        RING | {"pattern": "reduce-scatter", "algorithm": "halving-doubling"},
        RING | {"pattern": "alltoall", "skew": 1.2},
        RING | {"pattern": "training", "forward": "10 us", "backward": "20 us", "buckets": 3, "jitter": "10 %"},
        RING | {"pattern": "pipeline", "forward": "10 us", "backward": "20 us", "microbatches": 5},
    ],
)
def test_everything_can_start_and_counts_are_right(traffic: dict[str, Any]) -> None:
    made = experiment(traffic | {"iterations": 3})
    plan, steps = made.plan, made.plan.tasks.steps
    assert can_all_start(plan)
    assert plan.waits.all()
    assert len(plan) == made.traffic.flow_count(made.context)
    assert made.hosts == 4
    done = steps.kind == Kind.DONE
    assert sorted(zip(steps.iteration[done], steps.rank[done], strict=True)) == [
        (i, r) for i in range(3) for r in range(4)
    ]
    again = Experiment.model_validate(made.model_dump(mode="json"))
    assert (again.plan.size == plan.size).all()


TWO = {"pattern": "jobs", "jobs": [RING | {"name": "a", "ranks": 4}, RING | {"name": "b", "ranks": 4}]}
LEAVES = {"kind": "leaf-spine", "leaves": 2, "spines": 1, "hosts_per_leaf": 4}


@pytest.mark.parametrize(
    ("placement", "a"),
    [
        ("packed", ("h1", "h2", "h3", "h4")),
        ("spread", ("h1", "h5", "h2", "h6")),
        (["h8", "h1", "h3", "h2", "h4", "h5", "h6", "h7"], ("h8", "h1", "h3", "h2")),
    ],
)
def test_jobs_are_placed(placement: str | list[str], a: tuple[str, ...]) -> None:
    plan = experiment(TWO | {"placement": placement}, rack=LEAVES).plan
    jobs = plan.tasks.jobs
    assert [job.name for job in jobs] == ["a", "b"]
    assert jobs[0].hosts == a
    assert set(jobs[0].hosts) | set(jobs[1].hosts) == {f"h{n}" for n in range(1, 9)}
    for number, job in enumerate(jobs):
        assert {src for src, label in zip(plan.src, plan.label, strict=True) if label == job.name} == set(job.hosts)
        assert (plan.tasks.steps.job == number).sum() == len(plan.tasks.steps) / 2


def test_chance_places_by_the_seed() -> None:
    def made(seed: int) -> Plan:
        return experiment(TWO | {"placement": "random"}, rack=LEAVES, seed=seed).plan

    assert made(1).tasks.jobs[0].hosts == made(1).tasks.jobs[0].hosts != made(2).tasks.jobs[0].hosts


def test_a_job_alone_stays_where_it_is() -> None:
    both, alone = (experiment(TWO | {"placement": "spread", "alone": name}, rack=LEAVES).plan for name in ("", "b"))
    assert alone.tasks.jobs == both.tasks.jobs[1:]
    assert set(alone.label) == {"b"}
    assert len(alone) == len(both) / 2
    assert len(alone.tasks.steps) == len(both.tasks.steps) / 2
    assert len(alone.tasks.edges) == len(both.tasks.edges) / 2
    assert can_all_start(alone)
    mixed = experiment({"pattern": "mix", "alone": "a", "parts": [TWO, {"pattern": "incast", "senders": 4}]}).plan
    assert set(mixed.label) == {"a"}


@pytest.mark.parametrize(
    ("traffic", "blamed"),
    [
        (RING | {"ranks": 6, "algorithm": "halving-doubling"}, "power of two of ranks, got 6"),
        ({**TWO, "jobs": [RING, RING]}, "called 'allreduce' already"),
        (TWO | {"alone": "c"}, "no job 'c'; allowed: a, b"),
        (TWO | {"placement": ["h1", "h2"]}, "expected 8 different hosts, as many as the jobs have ranks"),
        (
            {"pattern": "flows", "flows": [{"src": "h1", "dst": "h2", "size": "1 B", "after": [1]}] * 2},
            "wait for each other",
        ),
        ({"pattern": "flows", "flows": [{"src": "h1", "dst": "h2", "after": [3]}]}, "there is no flow 3"),
    ],
)
def test_what_cannot_be_is_refused(traffic: dict[str, Any], blamed: str) -> None:
    with pytest.raises(ValidationError, match=blamed):
        experiment(traffic)


def test_one_forward_one_backward() -> None:
    forward, backward = np.arange(4), -np.arange(4)
    assert one_forward_one_backward(forward, backward, 0).tolist() == [0, 0, 1, -1, 2, -2, 3, -3]
    assert one_forward_one_backward(forward, backward, 2).tolist() == [0, 1, 2, 0, 3, -1, -2, -3]
    assert one_forward_one_backward(forward, backward, 9).tolist() == [0, 1, 2, 3, 0, -1, -2, -3]
