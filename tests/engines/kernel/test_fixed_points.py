"""The controllers do in the rack what their papers say they settle at. Numbers are from theory, not from our output."""

from __future__ import annotations

import pytest

from tests.support.known import eight
from tests.support.runs import Runs

pytestmark = [pytest.mark.root, pytest.mark.measures, pytest.mark.alone, pytest.mark.slow]


def test_hpcc_keeps_its_utilisation_with_an_empty_queue_and_loses_nothing(runs: Runs) -> None:
    """eta = 95 % (HPCC 3.2); the buffer has no room for more than eight first windows."""
    summary = eight(runs, "hpcc").summary
    assert summary["su"] == pytest.approx(95, abs=3)
    assert summary["ql_mean"] < 0.1 * 8e-6  # near-empty: a tenth of a base RTT
    assert summary["drops_in_run"] == 0
