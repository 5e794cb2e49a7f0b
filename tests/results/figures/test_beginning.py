"""Which times include the start of a run."""

from __future__ import annotations

import numpy as np
import pytest

from testbed.results.figures.beginning import timed_from_start
from testbed.results.record import StepTable
from tests.support.synthetic_runs import run

INF, NAN = float("inf"), float("nan")


@pytest.mark.parametrize(
    ("sizes", "start", "finished", "said"),
    [
        ([INF, INF], [0.0, 0.0], [NAN, NAN], ""),
        ([1e6, 1e6], [0.0, 1e-3], [1e-3, 6e-3], "completion times of 2 flows"),
        ([1e6, 1e6], [0.0, 3e-3], [NAN, 6e-3], ""),  # what does not finish has no time
    ],
)
def test_flows_of_the_start(sizes: list[float], start: list[float], finished: list[float], said: str) -> None:
    assert timed_from_start(run(sizes=sizes, start=start, finished=finished)) == said


def test_steps_of_jobs() -> None:
    record = run()
    one = np.zeros(1, np.int64)
    for begin, said in ((1e-3, "times of iterations"), (3e-3, "")):
        record.steps = StepTable(one, one, one, one, np.array([begin]), np.array([1e-4]))
        assert timed_from_start(record) == said
