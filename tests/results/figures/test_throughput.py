"""Utilisation and goodput against numbers worked out by hand."""

from __future__ import annotations

import math

import pytest

from testbed.results.figures import fairness, latency, spans, throughput
from tests.support.synthetic_runs import PAYLOAD, WIRE, B, run, without_series


def test_utilisation_is_of_wire_bytes() -> None:
    record = run()
    assert throughput.utilisation(record, spans.window(record)) == pytest.approx(95.0)


def test_goodput_is_of_payload() -> None:
    record = run((0.6, 0.4))
    payload_rate = 0.95 * B * PAYLOAD / WIRE
    expected = [0.6 * payload_rate, 0.4 * payload_rate]
    assert throughput.flow_goodput(record, spans.window(record)) == pytest.approx(expected)


def test_flows_without_series_have_figures_all_the_same() -> None:
    record = run((0.4, 0.3, 0.2, 0.1))
    span = spans.window(record)
    whole = throughput.flow_goodput(record, span)
    record.acked_in_window = spans.growth(record.flow_series.time, record.flow_series.acked_bytes, span)
    without_series(record, [0, 2])
    assert throughput.flow_goodput(record, span).tolist() == whole.tolist()
    assert fairness.steady_rates(record, span).tolist() == pytest.approx(whole.tolist())


def test_su_and_ql_over_the_receivers() -> None:
    record = run()  # s1-eth1 to h1 is idle, s1-eth2 to h99 carries 0.95 B with a queue of 50 kB
    span = spans.window(record)
    assert throughput.receiver_ports(record).tolist() == [1]
    assert throughput.receiver_utilisation(record, span) == pytest.approx(95)
    record.flows.dst[0] = "h1"
    assert throughput.receiver_utilisation(record, span) == pytest.approx(95 / 2)
    assert latency.receiver_queue_latency(record, span) == pytest.approx(2e-6)
    assert latency.busiest_queue_latency(record, span) == pytest.approx(4e-6)


def test_a_port_is_held_against_its_own_rate() -> None:
    record = run()
    record.port_rate[1] = 4 * B
    assert throughput.utilisation(record, spans.window(record)) == pytest.approx(95 / 4)


def test_bandwidth_of_the_long_flows() -> None:
    record = run((0.6, 0.4), labels=["long", "short"])
    assert throughput.long_bandwidth(record, spans.window(record)) == pytest.approx(0.6 * 95)
    assert math.isnan(throughput.long_bandwidth(run(), spans.window(run())))
