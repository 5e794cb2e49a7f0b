"""A search for the highest rate at which a run passes."""

from __future__ import annotations

from typing import cast

import pytest

from testbed.experiment.resolved import Resolved
from testbed.results.record import RunRecord
from testbed.runs.plans.case import Search
from testbed.runs.plans.observed import Observed


@pytest.mark.parametrize(("threshold", "runs"), [(100.0, 1), (62.3, 9), (0.0, 9)])
def test_it_is_found_by_bisection(threshold: float, runs: int) -> None:
    tried: list[float] = []

    def run(setting: str) -> Observed:
        tried.append(float(setting.removeprefix("controller.rate=").removesuffix(" %")))
        return Observed(cast(Resolved, None), cast(RunRecord, None), found=tried[-1])

    found = Search("controller.rate", lambda seen: seen.found <= threshold).highest(run).found
    assert (0 <= threshold - found <= 0.5, tried[0], len(tried)) == (True, 100, runs)
