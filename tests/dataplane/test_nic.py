"""The NIC programs, frame by frame: numbering and stamping, ACKs and CNPs, feedback records."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator

import numpy as np
import pytest
from pyroute2 import IPRoute

from testbed.dataplane import wire
from testbed.dataplane.programs import PROBE_FLOWS
from testbed.experiment.topology.framing import Framing
from tests.support.packets import (
    CE,
    ECT0,
    FRAMING,
    H1,
    H2,
    INT_AT,
    IP1,
    IP2,
    LOOPBACK,
    OK,
    PLAIN,
    PSN_AT,
    REDIRECT,
    SHIM_AT,
    SHOT,
    Bench,
    bench,
    checksum,
    data,
    ecn_of,
    on_the_wire,
    psn_of,
    shim_of,
)
from tests.support.waiting import PATIENCE

pytestmark = [pytest.mark.root, pytest.mark.parallel]


# -- leaving the sender ---------------------------------------------------------------------------------------------

STRANGER = 8 + PROBE_FLOWS  # the rig knows 8 flows, and those of calibration


def test_packets_get_numbers_and_departure_times(rig: Bench) -> None:
    frames, times = [], [time.monotonic_ns()]
    for _ in range(5):
        frames.append(rig.tx(data(flow=2)))
        times.append(time.monotonic_ns())
    assert [psn_of(frame) for frame in frames] == [0, 1, 2, 3, 4]
    for frame, before, after in zip(frames, times, times[1:], strict=False):
        assert before <= shim_of(frame)[0] <= after
    assert rig.nic.flows_tx["packets"].tolist() == [0, 0, 5, 0, 0, 0, 0, 0]
    original = data(flow=2)
    assert frames[0][:PSN_AT] == original[:PSN_AT]
    assert frames[0][PSN_AT] == wire.ACK_REQUEST
    assert frames[0][SHIM_AT + 8 :] == original[SHIM_AT + 8 :]


def test_packet_numbers_wrap_at_24_bits(rig: Bench) -> None:
    rig.nic.flows_tx["packets"][0] = 0xFFFFFF
    frames = [rig.tx(data()) for _ in range(2)]
    assert [psn_of(frame) for frame in frames] == [0xFFFFFF, 0]
    assert [frame[PSN_AT] for frame in frames] == [wire.ACK_REQUEST] * 2
    assert rig.nic.flows_tx["packets"][0] == 0x1000001


def test_what_is_not_data_of_a_known_flow_leaves_untouched(rig: Bench) -> None:
    ack = bytearray(data())
    ack[42] = wire.ACK
    for frame in (
        bytes(ack),
        data(flow=STRANGER),
        on_the_wire(b"ping" * 20),
        b"\xff" * 6 + H1 + b"\x08\x06" + bytes(46),
    ):
        assert rig.tx(frame) == frame
    assert rig.nic.flows_tx["packets"].sum() == 0


# -- the receiver ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("framing", [PLAIN, FRAMING], ids=["plain", "INT"])
def test_data_becomes_its_ack_in_place(rig: Bench, framing: Framing) -> None:
    sent = rig.tx(data(flow=3, framing=framing, tos=0x68 | ECT0, dst=H2))
    verdict, ack = rig.rx(sent)
    assert verdict == REDIRECT
    assert len(ack) == framing.ack_size
    assert (ack[0:6], ack[6:12]) == (H1, H2)
    assert (ack[26:30], ack[30:34]) == (IP2, IP1)
    assert ack[34:38] == sent[34:38]  # ports: the answer goes to 4791 as well
    assert int.from_bytes(ack[16:18], "big") == len(ack) - 14
    assert int.from_bytes(ack[38:40], "big") == len(ack) - 34
    assert ack[40:42] == b"\0\0"  # no UDP checksum
    assert checksum(ack[14:34]) == 0
    assert ack[15] == 0  # not ECN-capable, and of a priority that is never paused
    assert ack[22] == 64
    opcode, _, _, qp, psn, aeth = wire.BTH.unpack_from(ack, 42)
    assert (opcode, qp, psn, aeth) == (wire.ACK, wire.QP_BASE + 3, psn_of(sent), wire.AETH_ACK << 24)
    departure, size, payload, ttl, flags, _ = shim_of(ack)
    assert (departure, size, payload) == shim_of(sent)[:3]
    assert size == framing.wire_size
    assert ttl == sent[22]
    assert flags == (wire.SHIM_INT if framing.int_hops else 0)


def test_ack_carries_the_int_stack_back(rig: Bench) -> None:
    rig.freeze(1234)
    _, stamped = rig.egress(rig.tx(data(framing=FRAMING)))
    _, ack = rig.rx(stamped)
    assert ack[INT_AT : INT_AT + FRAMING.int_size] == stamped[INT_AT : INT_AT + FRAMING.int_size]
    assert wire.INT_HOP.unpack_from(ack, INT_AT + wire.INT_HEADER.size)[1] == 1234


def test_short_packet_is_acknowledged_with_its_own_size(rig: Bench) -> None:
    _, ack = rig.rx(rig.tx(data(payload=1)))
    assert shim_of(ack)[1:3] == (PLAIN.overhead + 1, 1)
    assert rig.nic.flows_rx["payload_bytes"][0] == 1


def test_arrivals_are_counted_per_flow(rig: Bench) -> None:
    for flow, packets in ((1, 3), (4, 2)):
        for psn in range(packets):
            rig.rx(data(flow=flow, psn=psn, payload=500))
    assert rig.nic.flows_rx["packets"].tolist() == [0, 3, 0, 0, 2, 0, 0, 0]
    assert rig.nic.flows_rx["payload_bytes"].tolist() == [0, 1500, 0, 0, 1000, 0, 0, 0]
    assert rig.nic.flows_rx["gaps"].sum() == rig.nic.flows_rx["reorders"].sum() == rig.nic.flows_rx["ce"].sum() == 0


@pytest.mark.parametrize("first", [0, 0xFFFFFC], ids=["from 0", "over the wrap"])
def test_gaps_and_reorders(rig: Bench, first: int) -> None:
    """Packets 0 1 4 3 6 of 0..6: 2 and 5 never came, 3 came late."""
    rig.nic.flows_rx["next_psn"][0] = first
    for offset, gaps, reorders in ((0, 0, 0), (1, 0, 0), (4, 2, 0), (3, 1, 1), (6, 2, 1)):
        rig.rx(data(psn=(first + offset) & 0xFFFFFF))
        assert (rig.nic.flows_rx["gaps"][0], rig.nic.flows_rx["reorders"][0]) == (gaps, reorders)
    assert rig.nic.flows_rx["next_psn"][0] == (first + 7) & 0xFFFFFF


def test_no_answer_where_none_was_asked_for(rig: Bench) -> None:
    frame = bytearray(data())
    frame[PSN_AT] = 0
    assert rig.rx(bytes(frame))[0] == SHOT
    assert rig.nic.flows_rx["packets"][0] == 1


def test_cnp_does_not_wait_for_a_packet_that_asks_for_an_ack(rig: Bench) -> None:
    """RoCEv2: a CNP answers the mark, not the request for an ACK."""
    frame = bytearray(data(tos=CE))
    frame[PSN_AT] = 0
    verdict, out = rig.rx(bytes(frame))
    assert (verdict, out[42], rig.nic.flows_rx["cnps"][0]) == (REDIRECT, wire.CNP, 1)


def test_strangers_reach_the_host(rig: Bench) -> None:
    for frame in (data(flow=STRANGER), on_the_wire(b"ping" * 20), b"\xff" * 6 + H1 + b"\x08\x06" + bytes(46)):
        assert rig.rx(frame) == (OK, frame)
    assert rig.nic.flows_rx["packets"].sum() == 0


def test_everything_that_arrives_is_counted_where_it_does(rig: Bench) -> None:
    for frame in (data(), on_the_wire(b"ping" * 20), b"\xff" * 6 + H1 + b"\x08\x06" + bytes(46)):
        rig.rx(frame)
    assert rig.nic.arrivals["bytes"].tolist() == [0, PLAIN.wire_size + 42 + 80 + 60] + [0] * 7
    assert rig.nic.arrivals["packets"][LOOPBACK] == 3


# -- CNPs -----------------------------------------------------------------------------------------------------------


def test_cnp_frame(rig: Bench) -> None:
    sent = rig.tx(data(flow=3, framing=FRAMING, tos=CE, dst=H2))
    verdict, cnp = rig.rx(sent)
    assert verdict == REDIRECT
    assert len(cnp) == 14 + 20 + 8 + 12 + 16 + 4  # Ethernet, IP, UDP, BTH, what is reserved, ICRC: no INT in it
    assert cnp[54:] == bytes(20)  # 16 that are reserved, and the iCRC
    opcode, _, _, qp, _, aeth = wire.BTH.unpack_from(cnp, 42)
    assert (opcode, qp, aeth) == (wire.CNP, 0x40 << 24 | wire.QP_BASE + 3, 0)  # BECN
    assert ecn_of(cnp) == 0
    assert (cnp[0:6], cnp[6:12], cnp[26:30], cnp[30:34]) == (H1, H2, IP2, IP1)
    assert checksum(cnp[14:34]) == 0


def test_cnp_at_most_once_per_interval_and_flow() -> None:
    """DCQCN's notification point: CE in every packet for time T gives ceil(T / N) CNPs per flow (T = 1 s and N = 19 ms
    give 53; here both are 20 times shorter). Each decision is checked against the kernel's own time."""
    interval, flows = 950_000, 3
    with bench(cnp_interval_ns=interval) as rig:
        seen: list[list[int]] = [[] for _ in range(flows)]  # times of CNPs
        first = 0
        before = [0] * flows  # latest moment at which the flow's packet before could have arrived
        last = [0] * flows  # and the earliest
        while first == 0 or before[0] - first < 50_000_000:
            for flow in range(flows):
                asked = time.monotonic_ns()
                _, out = rig.rx(data(flow=flow, tos=CE))
                now = time.monotonic_ns()
                first = first or now
                is_cnp = out[42] == wire.CNP
                if is_cnp:
                    seen[flow].append(int(rig.nic.flows_rx["last_cnp_ns"][flow]))
                    assert asked <= seen[flow][-1] <= now
                else:  # too early for one
                    assert asked - seen[flow][-1] < interval
                last[flow], before[flow] = asked, now
        for flow in range(flows):
            gaps = np.diff(seen[flow])
            assert gaps.min() >= interval
            # no packet came between the end of an interval and its CNP (seen above); less what that made them late
            late = int((gaps - interval).sum())
            least = (last[flow] - seen[flow][0] - late) // interval
            assert least <= len(seen[flow]) <= (before[flow] - first) // interval + 2
            assert rig.nic.flows_rx["cnps"][flow] == len(seen[flow])
        assert rig.nic.flows_rx["ce"][:flows].tolist() == rig.nic.flows_rx["packets"][:flows].tolist()


def test_ce_is_echoed_in_every_ack_also_between_cnps() -> None:
    with bench(cnp_interval_ns=1 << 62) as rig:
        rig.nic.flows_rx["last_cnp_ns"][0] = time.monotonic_ns()  # the interval has just begun
        acks = [rig.rx(data(tos=tos, psn=psn))[1] for psn, tos in enumerate((CE, ECT0, CE, 0))]
        assert [ack[42] for ack in acks] == [wire.ACK] * 4
        assert [shim_of(ack)[4] for ack in acks] == [2, 0, 2, 0]
        assert (rig.nic.flows_rx["ce"][0], rig.nic.flows_rx["cnps"][0]) == (2, 0)


@pytest.fixture
def tap() -> Iterator[tuple[Bench, socket.socket]]:
    """A bench whose loopback interface is up, and a socket that hears what is sent there."""
    with bench() as rig, IPRoute() as ip, socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3)) as ear:
        ip.link("set", index=LOOPBACK, state="up")
        ear.bind(("lo", 0x0003))
        ear.settimeout(PATIENCE)
        yield rig, ear


def test_ack_goes_out_beside_the_cnp(tap: tuple[Bench, socket.socket]) -> None:
    """The CNP is the frame itself; the ACK is a copy that was sent already."""
    rig, ear = tap
    sent = rig.tx(data(flow=3, framing=FRAMING, tos=CE, psn=0))
    _, cnp = rig.rx(sent)
    ack = ear.recv(4096)
    assert (cnp[42], ack[42]) == (wire.CNP, wire.ACK)
    assert len(ack) == FRAMING.ack_size
    assert shim_of(ack)[0] == shim_of(sent)[0]
    assert shim_of(ack)[4] == wire.SHIM_INT | 2
    assert checksum(ack[14:34]) == 0
    assert ack[INT_AT : INT_AT + FRAMING.int_size] == sent[INT_AT : INT_AT + FRAMING.int_size]
