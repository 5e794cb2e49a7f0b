"""Every figure against a number that follows from theory."""

from __future__ import annotations

import math

import numpy as np
import pytest

from testbed.results import figures
from testbed.results.figures import Window
from tests.support.synthetic_runs import PAYLOAD, RTT, WIRE, B, histogram, run, without_series


def test_the_window_leaves_out_the_warmup() -> None:
    assert figures.window(run(duration=10e-3, warmup=2e-3)) == (2e-3, 10e-3)


def test_the_window_ends_with_the_samples() -> None:
    record = run(duration=10e-3, warmup=2e-3)
    record.duration = 11e-3  # the last sample is at 10 ms
    assert figures.window(record).end == 10e-3
    assert figures.utilisation(record, figures.window(record)) == pytest.approx(95.0)


def test_growth_is_exact_between_samples() -> None:
    time = np.linspace(0, 1, 11)
    counter = np.column_stack([100 * time, 200 * time])
    assert figures.growth(time, counter, Window(0.123, 0.777)) == pytest.approx([65.4, 130.8])


def test_utilisation_is_of_wire_bytes() -> None:
    record = run()
    assert figures.utilisation(record, figures.window(record)) == pytest.approx(95.0)


def test_goodput_is_of_payload() -> None:
    record = run((0.6, 0.4))
    payload_rate = 0.95 * B * PAYLOAD / WIRE
    expected = [0.6 * payload_rate, 0.4 * payload_rate]
    assert figures.flow_goodput(record, figures.window(record)) == pytest.approx(expected)


def test_queue_of_50_kb_at_100_gbit_is_4_us() -> None:
    record = run(queue=50e3)
    assert figures.queue_latency_mean(record, figures.window(record)) == pytest.approx(4e-6)
    assert figures.queue_latency_quantile(record, figures.window(record), 0.99) == pytest.approx(4e-6, rel=0.01)


def test_queue_maximum_does_not_come_from_the_warmup() -> None:
    record = run(queue=50e3)  # its high-water mark of 100 kB is older than the window
    assert figures.queue_latency_max(record, figures.window(record)) == pytest.approx(4e-6, rel=0.011)


def test_queue_maximum_is_the_high_water_mark_that_rose_in_the_window() -> None:
    record = run(queue=50e3)
    record.port_series.peak_queue[-1, 1] = 125e3
    assert figures.queue_latency_max(record, figures.window(record)) == pytest.approx(10e-6)


def test_two_flows_at_60_to_40() -> None:
    rates = np.array([0.6, 0.4])
    assert figures.fairness_ratio(rates) == pytest.approx(66.667, abs=0.001)
    assert figures.jain(rates) == pytest.approx(0.9615, abs=0.0001)


def test_jain_at_its_ends() -> None:
    assert figures.jain(np.ones(4)) == 1
    assert figures.jain(np.array([1.0, 0, 0, 0])) == 0.25


def test_fairness_of_nothing_is_unknown() -> None:
    for nothing in (np.array([]), np.zeros(3)):
        assert math.isnan(figures.fairness_ratio(nothing))
        assert math.isnan(figures.jain(nothing))


def test_hosts_can_be_fair_where_flows_are_not() -> None:
    rates = np.array([0.1, 0.4, 0.25, 0.25])
    by_host = figures.per_host(rates, ["h1", "h1", "h2", "h2"])
    assert figures.fairness_ratio(rates) == pytest.approx(25)
    assert figures.fairness_ratio(by_host) == pytest.approx(100)


def test_fairness_leaves_out_flows_that_came_late_or_left_early() -> None:
    record = run([0.25] * 4, start=[0, 6e-3, 0, 2.1e-3], finished=[np.nan, np.nan, 5e-3, np.nan])
    span = figures.window(record)
    steady = figures.steady_flows(record, span)
    assert steady.tolist() == [True, False, False, True]
    # The one that came 0.1 ms late is compared over the time in which it was there.
    assert figures.fairness_ratio(figures.steady_rates(record, span)[steady]) == pytest.approx(100)


def test_drops_and_marks() -> None:
    record = run()
    found = figures.packets(record, figures.window(record))
    assert (found.dropped, found.dropped_in_run) == pytest.approx((800, 1000))
    assert found.marked_share == pytest.approx(0.1)
    assert figures.loss_share(record) == pytest.approx(1000 / record.flows.sent_packets.sum())


def test_ideal_completion_time() -> None:
    record = run([1.0], sizes=[1_000_500])  # 1001 packets
    assert figures.ideal_fct(record)[0] == pytest.approx(RTT + 8 * (1_000_500 + 1001 * 100) / B)


def test_completion_and_slowdown() -> None:
    sizes = [1e6, 1e6, 1e6, np.inf]
    ideal = RTT + 8 * 1.1e6 / B
    record = run(
        [0.25] * 4, sizes=sizes, start=[1e-3] * 4, finished=[1e-3 + 2 * ideal, 1e-3 + ideal / 2, np.nan, np.nan]
    )
    found = figures.completion(record)
    assert (found.finished, found.unfinished) == (2, 1)
    assert found.mean == pytest.approx(1.25 * ideal)
    assert found.slowdown_mean == pytest.approx(1.5)  # 2, and 0.5 clamped to 1
    assert found.slowdown_p99 == pytest.approx(1.99)


def test_decision_time() -> None:
    record = run()
    assert figures.decision_per_call(record) == pytest.approx(128e-6)
    assert figures.decision_per_row(record) == pytest.approx(2e-6)


def test_an_empty_window_knows_nothing() -> None:
    record = run(warmup=1.0)
    span = figures.window(record)
    assert math.isnan(figures.utilisation(record, span))
    assert math.isnan(figures.queue_latency_mean(record, span))
    assert math.isnan(figures.queue_latency_max(record, span))
    assert not figures.steady_flows(record, span).any()


def test_queue_quantile_of_no_packets_is_unknown() -> None:
    record = run()
    record.queue_histogram = histogram([0, 1, 2], [0, 0])
    assert math.isnan(figures.queue_latency_quantile(record, figures.window(record), 0.99))


def test_queue_quantile_is_not_above_the_maximum() -> None:
    record = run(queue=50e3)
    record.queue_histogram = histogram([0, 40e3, 90e3], [0, 10])  # the top bin ends above the highest queue
    span = figures.window(record)
    assert figures.queue_latency_quantile(record, span, 0.99) <= figures.queue_latency_max(record, span)


def test_flows_without_series_have_figures_all_the_same() -> None:
    record = run((0.4, 0.3, 0.2, 0.1))
    span = figures.window(record)
    whole = figures.flow_goodput(record, span)
    record.acked_in_window = figures.growth(record.flow_series.time, record.flow_series.acked_bytes, span)
    without_series(record, [0, 2])
    assert figures.flow_goodput(record, span).tolist() == whole.tolist()
    assert figures.steady_rates(record, span).tolist() == pytest.approx(whole.tolist())
