"""Fairness between flows and between hosts, and which flows it is asked of."""

from __future__ import annotations

import math

import numpy as np
import pytest

from testbed.results.figures import fairness, spans
from testbed.results.figures.measurements import Measurements
from tests.support.synthetic_runs import run


def test_two_flows_at_60_to_40() -> None:
    rates = np.array([0.6, 0.4])
    assert fairness.fairness_ratio(rates) == pytest.approx(66.667, abs=0.001)
    assert fairness.jain(rates) == pytest.approx(0.9615, abs=0.0001)


def test_jain_at_its_ends() -> None:
    assert fairness.jain(np.ones(4)) == 1
    assert fairness.jain(np.array([1.0, 0, 0, 0])) == 0.25


def test_fairness_of_nothing_is_unknown() -> None:
    for nothing in (np.array([]), np.zeros(3)):
        assert math.isnan(fairness.fairness_ratio(nothing))
        assert math.isnan(fairness.jain(nothing))


def test_hosts_can_be_fair_where_flows_are_not() -> None:
    rates = np.array([0.1, 0.4, 0.25, 0.25])
    by_host = fairness.per_host(rates, ["h1", "h1", "h2", "h2"])
    assert fairness.fairness_ratio(rates) == pytest.approx(25)
    assert fairness.fairness_ratio(by_host) == pytest.approx(100)


def test_fairness_leaves_out_flows_that_came_late_or_left_early() -> None:
    record = run([0.25] * 4, start=[0, 6e-3, 0, 2.1e-3], finished=[np.nan, np.nan, 5e-3, np.nan])
    span = spans.window(record)
    steady = fairness.steady_flows(record, span)
    assert steady.tolist() == [True, False, False, True]
    # The one that came 0.1 ms late is compared over the time in which it was there.
    assert fairness.fairness_ratio(fairness.steady_rates(record, span)[steady]) == pytest.approx(100)


def test_one_flow_of_many_is_fair_to_itself_and_that_is_not_said() -> None:
    short = 20
    record = run([0.4] + [0.03] * short, start=[0] + [3e-3] * short, finished=[np.nan] + [9e-3] * short)
    assert fairness.steady_flows(record, spans.window(record)).sum() == 1
    assert len(Measurements(record).rates) == len(Measurements(record).host_rates) == 0
    assert len(Measurements(run([1.0])).rates) == 1  # nobody else


def test_flows_that_moved_less_than_half_of_the_bytes_are_not_the_traffic() -> None:
    few = run([0.1, 0.1, 0.8], start=[0, 0, 4e-3])
    assert len(Measurements(few).rates) == 0
    most = run([0.4, 0.4, 0.2], start=[0, 0, 4e-3])
    assert fairness.fairness_ratio(Measurements(most).rates) == pytest.approx(100)
