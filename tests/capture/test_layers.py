"""Our scapy layers against the bytes of wire.py and of the real programs."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether
from scapy.packet import Packet, Raw

from testbed.capture.layers import AETH, BTH, CNP, SRC, ImmDt, IntHop, IntMd, Shim
from testbed.dataplane import wire
from testbed.dataplane.programs import Notices
from testbed.experiment.topology.framing import Framing
from tests.support.packets import CE, ECT0, FRAMING, PLAIN, Bench, bench, data, run

NODE = 1 << 16 | 7  # of the bench's port


def rebuilt(packet: Packet) -> bytes:
    """Every layer written from its fields, not from the bytes that it was read from."""
    again = packet.copy()
    layer = again
    while layer:
        layer.raw_packet_cache = None
        layer = layer.payload
    return bytes(again)


@pytest.fixture
def rig() -> Iterator[Bench]:
    with bench() as made:
        yield made


@pytest.mark.parametrize("framing", [PLAIN, FRAMING, Framing(payload=200, int_hops=wire.MAX_HOPS)])
def test_a_frame_is_taken_apart_and_put_together_again(framing: Framing) -> None:
    frame = data(flow=5, framing=framing, psn=0xABCDEF)
    packet = Ether(frame)
    assert (packet[BTH].opcode, packet[BTH].qp, packet[BTH].psn) == (wire.SEND_ONLY_IMM, wire.QP_BASE + 5, 0xABCDEF)
    assert packet[BTH].ack_request == 1
    assert packet[Shim].frame == framing.wire_size
    assert packet[Shim].payload_bytes == framing.payload
    assert packet[Raw].load == bytes(framing.payload)  # without the iCRC
    assert packet[BTH].icrc == 0
    assert (IntMd in packet) == bool(framing.int_hops)
    assert rebuilt(packet) == frame


@pytest.mark.parametrize("hops", [0, 1, wire.MAX_HOPS])
def test_layers_build_what_a_sender_sends(hops: int) -> None:
    framing = Framing(payload=100, int_hops=hops)
    shim = Shim(frame=framing.wire_size, payload_bytes=100, flags="INT" if hops else 0)
    inside = IntMd(remaining=hops, hops=[IntHop()] * hops) / Raw(bytes(100)) if hops else Raw(bytes(100))
    built = BTH(qp=wire.QP_BASE + 9, ack_request=1) / ImmDt() / shim / inside
    assert bytes(built) == wire.frame(framing, flow=9, payload=100)


def test_importing_the_layers_makes_scapy_address_port_4791() -> None:
    assert UDP(bytes(UDP() / BTH())).dport == wire.ROCE_PORT


@pytest.mark.parametrize("kept", range(42, 256, 7))
def test_cut_packets_keep_what_there_is_and_have_no_icrc(kept: int) -> None:
    whole = data(flow=1, framing=Framing(payload=1000, int_hops=wire.MAX_HOPS), psn=3)
    packet = Ether(whole[:kept])
    assert bytes(packet) == whole[:kept]
    if BTH in packet and len(whole[:kept]) > 54:
        assert packet[BTH].psn == 3
        assert packet[BTH].icrc is None


def test_packets_of_other_senders_have_no_shim() -> None:
    foreign = Ether() / IP() / UDP() / BTH(opcode=wire.ACK) / AETH(syndrome=0x1F, msn=5)
    packet = Ether(bytes(foreign))
    assert packet[AETH].msn == 5
    assert Shim not in packet


@pytest.mark.root
@pytest.mark.parallel
def test_port_stamps_what_the_layers_read(rig: Bench) -> None:
    rig.port(rate=100e6)
    sent = rig.tx(data(flow=5, framing=FRAMING))
    _, once = rig.egress(sent)
    rig.freeze(12_345)
    _, twice = rig.egress(once)
    header = Ether(twice)[IntMd]
    assert header.remaining == 0
    first, second = header.stamped
    assert [(hop.switch, hop.port, hop.kbps) for hop in (first, second)] == [(1, 7, 100_000)] * 2
    assert (first.queue, second.queue) == (0, 12_345)
    assert first.ns >= Ether(sent)[Shim].departure > 0  # one clock
    assert [len(Ether(frame)[IntMd].stamped) for frame in (sent, once)] == [0, 1]
    assert rebuilt(Ether(twice)) == twice


@pytest.mark.root
@pytest.mark.parallel
def test_receiver_answers_what_the_layers_read(rig: Bench) -> None:
    rig.nic.flows_tx["packets"][6] = 41
    _, ack = rig.rx(rig.tx(data(flow=6, framing=FRAMING, tos=ECT0)))
    _, cnp = rig.rx(rig.tx(data(flow=5, framing=PLAIN, tos=CE)))
    packet = Ether(ack)
    assert (packet[BTH].opcode, packet[BTH].psn, packet[AETH].syndrome) == (wire.ACK, 41, wire.AETH_ACK)
    assert packet[Shim].ttl == 61  # of `data`
    assert packet[IntMd].stamped == []
    assert rebuilt(packet) == ack
    packet = Ether(cnp)
    assert (packet[BTH].opcode, packet[BTH].becn, packet[BTH].qp) == (wire.CNP, 1, wire.QP_BASE + 5)
    assert CNP in packet
    assert rebuilt(packet) == cnp


@pytest.mark.root
@pytest.mark.parallel
def test_an_src_of_the_port_program() -> None:
    with bench(src=Notices(2156, 1078)) as rig:
        rig.port(rate=100e6)
        assert rig.ports.src_fd is not None
        sent = bytearray(data(flow=4, psn=6))
        sent[14 + 20 + 8 + 16 + 13] = wire.SHIM_SRC | wire.SHIM_DEC
        _, frame = run(rig.ports.src_fd, bytes(sent), mark=5000)
    packet = Ether(frame)
    assert (packet[BTH].opcode, packet[BTH].qp, packet[BTH].psn) == (wire.SRC, wire.QP_BASE + 4, 6)
    assert SRC in packet
    assert str(packet[Shim].flags) == "INT+SRC+DEC"
    (hop,) = packet[IntMd].stamped
    assert (hop.switch, hop.port, hop.queue, hop.kbps) == (1, 7, 5000, 100_000)
    assert Raw not in packet
    assert rebuilt(packet) == frame
