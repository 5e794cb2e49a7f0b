"""Queues and delays against numbers that follow from theory."""

from __future__ import annotations

import math

import numpy as np
import pytest

from testbed.results.figures import Window, latency, spans
from tests.support.synthetic_runs import RTT, WIRE, B, histogram, run


def test_queue_of_50_kb_at_100_gbit_is_4_us() -> None:
    record = run(queue=50e3)
    assert latency.queue_latency_mean(record, spans.window(record)) == pytest.approx(4e-6)
    assert latency.queue_latency_quantile(record, spans.window(record), 0.99) == pytest.approx(4e-6, rel=0.01)


def test_queue_maximum_does_not_come_from_the_warmup() -> None:
    record = run(queue=50e3)  # its high-water mark of 100 kB is older than the window
    with_itself = 4e-6 + 8 * WIRE / B  # what a packet finds and the packet: the mean over time holds it, too
    assert latency.queue_latency_max(record, spans.window(record)) == pytest.approx(with_itself, rel=0.011)


def test_queue_maximum_is_the_high_water_mark_that_rose_in_the_window() -> None:
    record = run(queue=50e3)
    record.port_series.peak_queue[-1, 1] = 125e3
    assert latency.queue_latency_max(record, spans.window(record)) == pytest.approx(10e-6)


def test_queue_quantile_of_no_packets_is_unknown() -> None:
    record = run()
    record.queue_histogram = histogram([0, 1, 2], [0, 0])
    assert math.isnan(latency.queue_latency_quantile(record, spans.window(record), 0.99))


def test_queue_quantile_is_not_above_the_maximum() -> None:
    record = run(queue=50e3)
    record.queue_histogram = histogram([0, 40e3, 90e3], [0, 10])  # the top bin ends above the highest queue
    span = spans.window(record)
    assert latency.queue_latency_quantile(record, span, 0.99) <= latency.queue_latency_max(record, span)


def test_the_deviation_of_a_square_wave() -> None:
    record = run()
    record.port_series.queue[:, 1] = np.where(np.arange(201) % 2, 100e3, 20e3)  # half the time each
    found = latency.queue_length(record, Window(0, 9.975e-3))  # 200 samples
    assert (found.mean, found.std) == pytest.approx((60e3, 40e3))
    assert latency.queue_length(record, Window(0, 9.975e-3), all_ports=True) == found  # the other port sent nothing


def test_one_way_delay() -> None:
    record = run()  # 99 of 100 RTTs are below 12 us
    assert latency.packet_delay(record) == pytest.approx(12e-6 - RTT / 2)
