"""Starving what is slow makes no figure better."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest

from testbed.advise.unfinished import means
from testbed.results.figures.fct import completion
from testbed.results.record import RunRecord
from testbed.results.summary import Summary
from tests.support.synthetic_runs import run

NO_JOB = cast("Summary", SimpleNamespace(jobs=[]))


def elephants(*finished: float) -> RunRecord:
    return run([1 / len(finished)] * len(finished), sizes=[5e6] * len(finished), finished=finished, samples=2)


def test_a_flow_that_never_finishes_is_no_fast_one() -> None:
    fair, starving = elephants(3e-3, 4e-3), elephants(2e-3, np.nan)
    assert completion(starving).mean < completion(fair).mean
    assert means(starving, NO_JOB)["fct_elephants_mean"] == pytest.approx((2e-3 + starving.duration) / 2)
    assert means(starving, NO_JOB)["slowdown_elephants_mean"] > means(fair, NO_JOB)["slowdown_elephants_mean"]


def test_where_none_finished_nothing_is_known_and_where_all_did_it_is_the_mean() -> None:
    assert np.isnan(means(elephants(np.nan, np.nan), NO_JOB)["fct_mean"])
    assert means(elephants(3e-3, 4e-3), NO_JOB)["fct_mean"] == pytest.approx(completion(elephants(3e-3, 4e-3)).mean)


def test_an_iteration_that_does_not_end_counts_by_what_it_has_taken() -> None:
    def mean(iterations: int, unfinished: int) -> float:
        job = SimpleNamespace(iterations=iterations, iteration=1e-3, unfinished=unfinished)
        record = SimpleNamespace(
            flows=run().flows, payload=1000, wire_size=1100, duration=10e-3, jobs=[SimpleNamespace(start=0.0)]
        )
        return means(cast("RunRecord", record), cast("Summary", SimpleNamespace(jobs=[job])))["iteration_mean"]

    assert mean(2, 1) == pytest.approx((2e-3 + 8e-3) / 3)
    assert mean(9, 1) == pytest.approx(1e-3)
    assert mean(2, 0) == pytest.approx(1e-3)
