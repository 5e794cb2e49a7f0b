"""What leaves in one system call: packets of one flow or of many, full and short, and what a socket does not take."""

from __future__ import annotations

import time
from collections import Counter

import pytest

from testbed.clock import Clock
from testbed.errors import TestbedError
from tests.support.agents import DILATION, SEGMENT, Bench


@SEGMENT
def test_flows_that_are_late_together_send_each_its_own_packet(segment: bool) -> None:
    """300 flows of 2 hosts, all due before the agent wakes up: more than one call takes, in one wake-up."""
    with Bench(hosts=(0,) * 150 + (1,) * 150, first=7, segment=segment) as bench:
        bench.start(share=0.001)
        flows = [packet.flow for packet in bench.at(500.5)]
        assert sorted(flows) == list(range(7, 307))
        assert bench.flows.inflight.tolist() == [1] * 300
        assert bench.lags.pacing.counts.sum() == 300
        assert bench.at(999.5) == []
        assert len(bench.at(1150.5)) == 300


@SEGMENT
def test_every_packet_that_catches_up_counts_as_late(segment: bool) -> None:
    """Ten of one flow leave together, the first ten packets late and the last just due: ten samples, not one."""
    with Bench(segment=segment) as bench:
        bench.start()
        sent = len(bench.at(0.5)) + len(bench.at(10.5))
        assert sent == 11
        assert bench.lags.pacing.counts.sum() == sent


@SEGMENT
def test_short_packets_of_many_flows_are_not_mixed_up(segment: bool) -> None:
    """In a call of several packets only the last may be short."""
    with Bench(hosts=(0,) * 20, size=137, segment=segment) as bench:
        bench.start()
        sent = [(packet.flow, packet.payload) for now in (60.5, 61.5, 100.5) for packet in bench.at(now)]
        assert Counter(sent) == Counter((flow, size) for flow in range(20) for size in (100, 37))


def test_what_was_sent_is_reported_once() -> None:
    with Bench(hosts=(0, 1, 1)) as bench:
        bench.start(share=0.5)
        bench.at(4.5)
        flows, packets = bench.datapath.report_sent()
        assert dict(zip(flows.tolist(), packets.tolist(), strict=True)) == dict(enumerate(bench.flows.sent.tolist()))
        assert len(bench.datapath.report_sent()[0]) == 0


@SEGMENT
@pytest.mark.parametrize(
    ("size", "payloads"),
    [(1000, [100] * 10), (1037, [100] * 10 + [37]), (37, [37]), (100, [100]), (101, [100, 1])],
)
def test_last_packet_is_as_short_as_what_is_left(size: int, payloads: list[int], segment: bool) -> None:
    with Bench(size=size, segment=segment) as bench:
        bench.start()
        sent = [packet.payload for now in (0.5, 50.5, 90.5) for packet in bench.at(now)]
        assert sent == payloads
        assert bench.flows.to_send[0] == 0
        assert bench.flows.inflight[0] == len(payloads)


def test_a_socket_that_does_not_work_is_not_silent() -> None:
    with Bench() as bench:
        bench.datapath.begin(Clock(DILATION, time.monotonic_ns()))
        bench.start()
        bench.sockets._sockets[0].close()
        with pytest.raises(TestbedError, match="cannot send: Bad file descriptor"):
            bench.datapath.send_until(1e-3 / DILATION)
