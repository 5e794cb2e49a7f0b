"""The mock's port: marks, tail drop and INT, against theory."""

from __future__ import annotations

import random

import pytest

from testbed.sdk.mock.port import Port
from testbed.sdk.mock.scenario import Scenario

RTT, LINE, WIRE = Scenario.base_rtt, Scenario.line_rate, Scenario.wire_size


def test_share_of_marks_follows_the_law() -> None:
    port = Port(LINE, 1e9, (0, 100e3, 0.2), random.Random(1))
    port.offer(0, 50_000)  # half way: 10 %
    marks = sum(passed.ce for _ in range(20_000) if (passed := port.offer(0, 0)))
    assert marks / 20_000 == pytest.approx(0.1, abs=0.01)


def test_port_queues_drains_and_drops() -> None:
    port = Port(8e9, 3000, (1e9, 1e9, 0), random.Random(1))  # 1 byte per ns
    first, second, third = port.offer(0, 1000), port.offer(0, 1000), port.offer(500e-9, 1000)
    assert first is not None
    assert second is not None
    assert third is not None
    assert [first.wait, second.wait, third.wait] == pytest.approx([0, 1000e-9, 1500e-9])
    assert port.offer(500e-9, 501) is None  # 2500 bytes wait, 3000 fit
    assert port.offer(500e-9, 500) is not None
    assert port.dropped == 1
    assert port.advance(1) == 0
    assert port.area == pytest.approx((2000 + 1500) / 2 * 500e-9 + 3000**2 / 2 * 1e-9)


def test_int_counts_dequeued_bytes_without_the_packet_itself() -> None:
    port = Port(8e9, 1e6, (1e9, 1e9, 0), random.Random(1))
    port.offer(0, 1000)
    passed = port.offer(400e-9, 1000)
    assert passed is not None
    stamp = passed.stamp
    assert (stamp.queue, stamp.tx_bytes) == pytest.approx((600, 400))
    assert (stamp.ts, stamp.rate) == (400e-9, 8e9)
