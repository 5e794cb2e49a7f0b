"""Completion times, their ideal and slowdowns."""

from __future__ import annotations

import math

import numpy as np
import pytest

from testbed.results.figures import fct
from testbed.results.figures.measurements import Measurements
from testbed.results.record import RunRecord
from tests.support.synthetic_runs import RTT, WIRE, B, run


def test_ideal_completion_time() -> None:
    record = run([1.0], sizes=[1_000_500])  # 1001 packets
    assert fct.ideal_fct(record)[0] == pytest.approx(RTT + 8 * (1_000_500 + 1001 * 100) / B)


def test_completion_and_slowdown() -> None:
    sizes = [1e6, 1e6, 1e6, np.inf]
    ideal = RTT + 8 * 1.1e6 / B
    record = run(
        [0.25] * 4, sizes=sizes, start=[1e-3] * 4, finished=[1e-3 + 2 * ideal, 1e-3 + ideal / 2, np.nan, np.nan]
    )
    found = fct.completion(record)
    assert (found.finished, found.unfinished) == (2, 1)
    assert found.mean == pytest.approx(1.25 * ideal)
    assert found.slowdown_mean == pytest.approx(1.5)  # 2, and 0.5 clamped to 1
    assert found.unfinished_bytes == pytest.approx(1 / 3)
    assert math.isnan(found.slowdown_p99)  # the one that did not finish has taken longer than either already


def test_quantiles_know_of_flows_that_had_not_finished_and_take_those_that_never_began_for_nothing() -> None:
    ideal = RTT + 8 * 1.1e6 / B
    took = np.linspace(1, 3, 101) * ideal
    record = run([1 / 101] * 101, sizes=[1e6] * 101, samples=2, finished=took.tolist())
    assert fct.completion(record).p50 == pytest.approx(2 * ideal)
    record.flows.start[:10], record.flows.finished[:10] = record.duration, np.nan
    assert fct.completion(record).p50 == pytest.approx(2.1 * ideal)
    record.flows.finished[-40:] = np.nan  # the slow ones
    assert fct.completion(record).p50 == pytest.approx(2.1 * ideal, rel=0.02)
    assert math.isnan(fct.completion(record).p99)
    assert fct.completion(record).mean < 1.8 * ideal


def test_the_ideal_is_of_the_flow_s_own_way() -> None:
    record = run([0.5, 0.5], sizes=[1e6, 1e6])
    record.flows.path_rate[1], record.flows.base_rtt[1] = B / 4, 2 * RTT
    serialised = 8 * 1000 * WIRE / B
    assert fct.ideal_fct(record) == pytest.approx([RTT + serialised, 2 * RTT + 4 * serialised])


def finite(sizes: list[float], slowdowns: list[float]) -> RunRecord:
    record = run([1 / len(sizes)] * len(sizes), sizes=sizes, samples=2)
    record.flows.finished = record.flows.start + np.array(slowdowns) * fct.ideal_fct(record)
    return record


def test_mice_are_at_most_one_megabyte() -> None:
    measured = Measurements(finite([1e3, 1e6, 1e6 + 1, 3e7], [1, 3, 10, 20]))
    mice, elephants = measured.mice, measured.elephants
    assert (mice.finished, mice.slowdown_mean) == (2, pytest.approx(2))
    assert (elephants.finished, elephants.slowdown_mean) == (2, pytest.approx(15))
    assert elephants.slowdown_p99 == pytest.approx(10 + 0.99 * 10)


def test_short_flows_are_at_most_ten_kilobytes() -> None:
    short = Measurements(finite([1e3, 1e4, 1e4 + 1, 3e7], [1, 3, 10, 20])).short
    assert (short.finished, short.slowdown_p50) == (2, pytest.approx(2))
    assert short.slowdown_p99 == pytest.approx(1 + 0.99 * 2)


def test_slowdown_by_decade() -> None:
    record = finite([500, 1e3, 1001, 5e5, 1e6, 2e9], [2, 4, 5, 0.5, 3, 7])  # below 1 is 1
    found = fct.slowdown_by_decade(record)
    assert [one.largest for one in found] == [1e3, 1e4, 1e6, math.inf]
    assert [one.flows for one in found] == [2, 1, 2, 1]
    assert [one.mean for one in found] == pytest.approx([3, 5, 2, 7])


def test_slowdown_by_share_of_the_flows() -> None:
    sizes = [1000.0 * (i + 1) for i in range(40)]
    record = finite(sizes[::-1], [float(i + 1) for i in range(40)][::-1])
    found = fct.slowdown_by_share(record)
    assert [one.flows for one in found] == [2] * 20
    assert (found[0].largest, found[0].mean) == (2000, pytest.approx(1.5))
    assert (found[-1].largest, found[-1].p50) == (40_000, pytest.approx(39.5))
    assert fct.slowdown_by_share(finite(sizes[:19], [1.0] * 19)) == []
