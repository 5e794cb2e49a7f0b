"""Flows between numbered nodes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from testbed.experiment.traffic.numbered import NumberedFlows
from testbed.experiment.traffic.tasks import Kind, Steps, Tasks


def flows(src: list[int], dst: list[int], edges: list[tuple[int, int]]) -> NumberedFlows:
    columns = (np.array(src), np.array(dst), np.ones(len(src)), np.zeros(len(src)), np.arange(len(src)) + 10)
    return NumberedFlows(
        "x", Path("f"), *columns, Tasks(Steps.of(1, Kind.JOIN), np.array(edges, np.int64).reshape(-1, 2))
    )


def test_ordered_by_host_with_what_waits() -> None:
    plan = flows([4, 0, 4], [1, 2, 3], [(0, -1), (-1, 1)]).plan()
    assert (plan.src, plan.dst) == (["h1", "h5", "h5"], ["h3", "h2", "h4"])
    assert plan.tasks.edges.tolist() == [[1, -1], [-1, 0]]


def test_names() -> None:
    plan = flows([4, 0], [0, 4], []).plan({"4": "h1", "0": "h7"})
    assert (plan.src, plan.dst) == (["h1", "h7"], ["h7", "h1"])
    with pytest.raises(ValueError, match="f, line 11: expected hosts of the rack's file, got nodes 0 and 4"):
        flows([4, 0], [4 - 1, 4], []).plan({"4": "h1", "3": "h7"})


def test_circles() -> None:
    with pytest.raises(ValueError, match="f: flows wait for each other: line 10 > line 11 > line 10"):
        flows([4, 0], [1, 2], [(0, -1), (-1, 1), (1, 0)])
