"""Messages of several packets: their headers on a wire, who asks for acknowledgements, how long they take."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scapy.layers.l2 import Ether

from testbed.capture.layers import AETH, BTH, RETH, ImmDt, IntMd, Shim
from testbed.dataplane import wire
from testbed.fidelity.verdict import judge
from testbed.results.summary import summarise
from tests.support.simulated import captured, simulated

PAIR = """
rack: {kind: star, hosts: 2, link: {rate: 100 Gbit/s}}
traffic: {pattern: flows, flows: [{src: h1, dst: h2, size: 43009 B}], payload: 4096 B}
controller: {name: fixed, rate: 50 %}
transport: {recovery: go-back-n, messages: 16384 B, ack_every: message}
time: {duration: 200 us, warmup: 0 s}
record: {report: false}
"""
FIRST, MIDDLE, LAST, ONLY = wire.SEND_FIRST, wire.SEND_MIDDLE, wire.SEND_LAST_IMM, wire.SEND_ONLY_IMM
ANSWERED = [3, 7, 10]


@pytest.mark.parametrize("recovery", ["go-back-n", "selective-repeat"])
def test_a_flow_is_as_many_messages_as_it_needs(recovery: str, tmp_path: Path) -> None:
    """43,009 B are two messages of four packets, and one of two full packets and 2,049 B, which are padded to 2,052."""
    _, (there,) = captured(tmp_path, ["nic:h2"], PAIR, f"transport.recovery={recovery}")
    packets = [Ether(frame.data) for frame in there]
    data = [one for one in packets if one[BTH].opcode != wire.ACK]
    assert [one[BTH].opcode for one in data] == [FIRST, MIDDLE, MIDDLE, LAST] * 2 + [FIRST, MIDDLE, LAST]
    assert [one[BTH].psn for one in data] == list(range(11))
    assert [one[BTH].psn for one in data if one[BTH].ack_request] == ANSWERED
    assert [one[BTH].pad for one in data] == [0] * 10 + [3]
    assert (data[-1][Shim].payload_bytes, len(data[-1]) % 4) == (2049, (14 + 20 + 8) % 4)
    assert data[-1][Shim].frame == len(data[-1]) == len(data[0]) - 4096 + 2052
    acks = [one for one in packets if one[BTH].opcode == wire.ACK]
    assert [(one[BTH].psn, one[AETH].msn, one[AETH].syndrome) for one in acks] == [
        (psn, message, wire.AETH_ACK) for message, psn in enumerate(ANSWERED, start=1)
    ]
    assert [one[BTH].pad for one in acks] == [0] * 3


def test_flows_may_have_messages_of_their_own(tmp_path: Path) -> None:
    other = "{src: h1, dst: h2, size: 8 KiB}"
    asked = [f"traffic.flows=[{other}, {other}]", "packets=[{of: {flows: [1]}, messages: 4096 B}]"]
    record, (there,) = captured(tmp_path, ["nic:h2"], PAIR, *asked)
    data = [one for one in (Ether(frame.data) for frame in there) if one[BTH].opcode != wire.ACK]
    opcodes = [[one[BTH].opcode for one in data if one[BTH].qp == wire.QP_BASE + flow] for flow in range(2)]
    assert opcodes == [[FIRST, LAST], [ONLY, ONLY]]
    assert record.message_histogram.counts.sum() == 3


def test_rdma_write_says_where_each_message_goes_and_how_long_it_is(tmp_path: Path) -> None:
    """Like SEND but for that: opcodes are 6 more, and each packet has 16 B more."""
    record, (there,) = captured(tmp_path, ["nic:h2"], PAIR, "transport.operation=write")
    packets = [Ether(frame.data) for frame in there]
    data = [one for one in packets if one[BTH].opcode != wire.ACK]
    opcodes = [one[BTH].opcode - wire.WRITE for one in data]
    assert opcodes == [FIRST, MIDDLE, MIDDLE, LAST] * 2 + [FIRST, MIDDLE, LAST]
    assert [(one[RETH].address, one[RETH].length, one[RETH].r_key) for one in data if RETH in one] == [
        (start, length, wire.QP_BASE) for start, length in ((0, 16384), (16384, 16384), (32768, 10241))
    ]
    assert [ImmDt in one for one in data] == [place == LAST for place in opcodes]
    assert {one[Shim].frame for one in data[:-1]} == {len(data[0])} == {record.wire_size}
    assert record.wire_size == simulated(PAIR).wire_size + 16
    assert data[-1][Shim].payload_bytes == 2049
    acks = [(one[BTH].psn, one[AETH].msn, len(one)) for one in packets if one[BTH].opcode == wire.ACK]
    assert acks == [(psn, message, 78) for message, psn in enumerate(ANSWERED, start=1)]


def test_rdma_write_of_single_packets_with_int(tmp_path: Path) -> None:
    settings = ["transport={operation: write}", "controller=hpcc", "time.duration=400 us"]
    record, (there,) = captured(tmp_path, ["nic:h2"], PAIR, *settings)
    data = [one for one in (Ether(frame.data) for frame in there) if one[BTH].opcode != wire.ACK]
    assert [(one[RETH].address, one[RETH].length) for one in data] == [
        *((4096 * number, 4096) for number in range(10)), (40960, 2049)
    ]  # fmt: skip
    assert all(ImmDt in one and len(one[IntMd].stamped) == 1 for one in data)
    assert np.isfinite(record.flows.finished).all()


@pytest.mark.parametrize(("every", "answered"), [("1", list(range(11))), ("4", [3, 7, 10]), ("3", [2, 3, 5, 7, 8, 10])])
def test_one_of_so_many_packets_asks_and_the_last_of_a_message(every: str, answered: list[int], tmp_path: Path) -> None:
    record, (there,) = captured(tmp_path, ["nic:h2"], PAIR, f"transport.ack_every={every}")
    acks = [Ether(frame.data)[BTH].psn for frame in there if Ether(frame.data)[BTH].opcode == wire.ACK]
    assert acks == answered
    assert record.flows.acked_packets[0] == 11


def test_a_flow_with_a_window_asks_with_each_packet(tmp_path: Path) -> None:
    """Or it might close its window for ever."""
    _, (there,) = captured(tmp_path, ["nic:h2"], PAIR, "controller=swift", "time.duration=400 us")
    opcodes = [Ether(frame.data)[BTH].opcode for frame in there]
    assert opcodes.count(wire.ACK) == len(opcodes) / 2 == 11


@pytest.mark.parametrize("recovery", ["go-back-n", "selective-repeat"])
def test_the_message_number_counts_what_is_complete_though_packets_are_lost(recovery: str, tmp_path: Path) -> None:
    lossy = ["rack.link.loss=0.03", "transport.timeout=60 us", "time.duration=40 ms", f"transport.recovery={recovery}"]
    traffic = "traffic.flows=[{src: h1, dst: h2, size: 4 MB}]"
    record, (there,) = captured(tmp_path, ["nic:h2"], PAIR, *lossy, traffic)
    assert np.isfinite(record.flows.finished).all()
    assert record.flows.lost_packets[0] > 20
    acks = [Ether(frame.data) for frame in there if Ether(frame.data)[BTH].opcode == wire.ACK]
    for one in acks:
        arrived = one[BTH].psn + (one[AETH].syndrome == wire.AETH_ACK)
        assert one[AETH].msn == arrived // 4 + (arrived == 977 and 1)


def test_what_is_sent_again_asks_for_an_acknowledgement() -> None:
    """Of a gap near the end nobody would hear that it is closed."""
    settings = ["transport.recovery=selective-repeat", "rack.link.loss=0.01", "transport.timeout=200 us"]
    traffic = ["traffic.flows=[{src: h1, dst: h2, size: 1 MB}]", "transport.messages=65536 B", "time.duration=1 ms"]
    ended = [simulated(PAIR, [*settings, *traffic, f"seed={seed}"]).flows.finished[0] for seed in range(12)]
    assert np.isfinite(ended).all()


def test_completion_times_are_figures() -> None:
    """Four packets at half of the line: three gaps and an RTT. The last message has three packets."""
    record = simulated(PAIR)
    found = summarise(record, judge(record), experiment="pair", controller="fixed")
    frame = record.wire_size * 8 / 100e9
    assert record.message_histogram.counts.sum() == 3
    assert found.message_p99 == pytest.approx(3 * 2 * frame + record.flows.base_rtt[0], rel=0.05)


def test_acknowledgements_are_counted_on_the_way_back() -> None:
    each, few = (
        simulated(PAIR, [f"transport.ack_every={every}", "traffic.flows=[{src: h1, dst: h2, size: 4 MB}]"])
        for every in ("1", "message")
    )
    back = each.ports.index("s1-eth1")
    sent = [one.port_series.tx_bytes[-1, back] for one in (each, few)]
    assert sent[0] == pytest.approx(4 * sent[1], rel=0.02)
