"""Experiments, and traffic of other tools that becomes one."""

from __future__ import annotations

from pathlib import Path

import pytest

from testbed.advise.workload import Workload, workloads
from testbed.errors import BadInput
from tests.support.advised import SETTINGS, SWITCH

TRACE = "src,dst,bytes,start\nh1,h2,100000,0\nh3,h2,100000,0.00001\n"


def test_a_trace_becomes_an_experiment_whose_draws_have_the_same_flows(tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text(TRACE)
    (made,) = workloads([str(tmp_path / "mine.csv")], None, (), tmp_path)
    assert made.name == "mine"
    assert len(made.present.layout.plan) == 2
    assert made.same_flows([1, 2])


def test_random_traffic_differs_from_draw_to_draw() -> None:
    (made,) = workloads(["websearch"], None, (), Path())
    assert not made.same_flows([1, 2])


def test_the_queues_that_packets_wait_in() -> None:
    assert Workload.of("incast-2", SWITCH, SETTINGS, Path()).queues == [3]
    assert Workload.of("incast-2", SWITCH, SETTINGS[1:], Path()).queues == [0]
    assert Workload.of("incast-2", None, (), Path()).queues == [0]


def test_names_tell_them_apart() -> None:
    assert [one.name for one in workloads(["incast-2", "incast-2"], None, (), Path())] == ["incast-2", "incast-2-2"]


def test_what_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="there is no such file"):
        workloads(["mine.csv"], None, (), tmp_path)
