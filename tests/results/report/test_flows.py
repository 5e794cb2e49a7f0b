"""Curves per flow, and the bands of many."""

from __future__ import annotations

import numpy as np
import pytest

from testbed.results.report.flows import about, active, flow_curves
from tests.support.synthetic_runs import run, without_series


def test_bands_are_quantiles_of_the_flows_that_were_there() -> None:
    flows = 101
    start, finished = np.zeros(flows), np.full(flows, np.nan)
    start[50:], finished[:50] = 5e-3, 4e-3
    record = run([1 / flows] * flows, start=start, finished=finished)
    time = np.array([1e-3, 4.5e-3, 6e-3])
    values = np.tile(np.arange(flows, dtype=float), (3, 1))
    outer, inner, median, *single = flow_curves(record, time, values, active(record, time, time))
    assert [outer.name, inner.name, median.name] == ["5 to 95 %", "quartiles", "median"]
    assert median.y == pytest.approx([24.5, np.nan, 75], nan_ok=True)
    assert outer.low is not None
    assert inner.low is not None
    assert [outer.low[2], inner.low[2], inner.y[2], outer.y[2]] == pytest.approx([52.5, 62.5, 87.5, 97.5])
    assert [line.name for line in single[:2]] == ["h1-h99", "h3-h99"]
    assert about(record) == "quantiles of 101 flows"


def test_few_flows_are_drawn_one_by_one() -> None:
    record = run([0.25] * 4)
    without_series(record, [0, 1, 3])
    assert about(record) == "per flow (3 of 4)"
