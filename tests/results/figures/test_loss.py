"""Drops and marks, and the three denominators of loss."""

from __future__ import annotations

import numpy as np
import pytest

from testbed.results.figures import loss, spans
from tests.support.synthetic_runs import WIRE, run


def test_drops_and_marks() -> None:
    record = run()
    found = loss.packets(record, spans.window(record))
    assert (found.dropped, found.dropped_in_run) == pytest.approx((800, 1000))
    assert found.marked_share == pytest.approx(0.1)
    assert loss.loss_share(record) == pytest.approx(1000 / record.flows.sent_packets.sum())


def test_the_three_denominators_of_loss() -> None:
    """One flow lost 10 of 1,000 packets, the other 500 of 1,000, and 100 more only seemed to be."""
    record = run()
    flows, ports = record.flows, record.port_series
    flows.sent_packets, flows.acked_packets = np.array([1000, 1000]), np.array([990, 500])
    flows.lost_packets, flows.late_acks = np.array([10, 600]), np.array([0, 100])
    ports.dropped_packets[:, 1] = np.where(ports.time < 5e-3, 0, 510)
    assert loss.loss_share(record) == pytest.approx(510 / 2000)
    assert loss.loss_per_flow(record) == pytest.approx((10 / 990 + 500 / 500) / 2)
    assert loss.drop_rate(record, spans.window(record)) == pytest.approx(510 * WIRE * 8 / 8e-3)


def test_a_flow_of_which_nothing_arrived_does_not_make_loss_infinite() -> None:
    record = run()
    record.flows.sent_packets, record.flows.acked_packets = np.array([3, 0]), np.array([0, 0])
    record.flows.lost_packets = np.array([3, 0])
    assert loss.loss_per_flow(record) == 3  # one packet stands in; the flow that sent nothing does not count
