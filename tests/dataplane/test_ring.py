"""Feedback records on their way from the NIC program to an agent."""

from __future__ import annotations

import mmap
import time

import numpy as np
import pytest

from testbed.dataplane import wire
from testbed.dataplane.programs import PROBE_FLOWS, RING_SIZE
from testbed.dataplane.ring import Ring
from testbed.experiment.topology.framing import Framing
from tests.support.packets import (
    CE,
    FRAMING,
    FUTURE,
    OK,
    SHOT,
    Bench,
    bench,
    data,
    shim_of,
)

pytestmark = [pytest.mark.root, pytest.mark.parallel]
HEADER = 8  # of a ring buffer record
STRANGER = 8 + PROBE_FLOWS  # the rig knows 8 flows, and those of calibration


def test_ack_becomes_a_record(rig: Bench) -> None:
    reader = Reader(rig)
    rig.port(rate=100e6)
    frame = rig.tx(data(flow=5, framing=FRAMING, payload=700, psn=0))
    for queue in (4000, 5000):
        rig.freeze(queue)
        _, frame = rig.egress(frame)
    stamp = int(rig.count["last_ns"])
    frame = frame[:15] + bytes([CE]) + frame[16:]
    rig.nic.flows_rx["last_cnp_ns"][5] = FUTURE  # no CNP now
    _, ack = rig.rx(frame)
    before = time.monotonic_ns()
    assert rig.rx(ack)[0] == SHOT  # consumed
    after = time.monotonic_ns()
    (record,) = reader.records()
    assert before <= record["rx_ns"] <= after
    assert record["tx_ns"] == shim_of(frame)[0]
    assert (record["flow"], record["psn"]) == (5, 0)
    assert (record["frame"], record["payload"]) == (FRAMING.overhead + 700, 700)
    assert (record["opcode"], record["ttl"], record["hops"]) == (wire.ACK, 61, 2)
    assert record["flags"] == wire.SHIM_CE | wire.SHIM_INT
    hops = record["hop"][:2]
    assert hops["queue"].tolist() == [4000, 5000]
    assert hops["ts_ns"].tolist() == [stamp, stamp]
    assert hops["node"].tolist() == [1 << 16 | 7] * 2
    assert hops["rate"].tolist() == [100_000] * 2
    counted = rig.nic.flows_tx[5]
    assert (counted["acks"], counted["ce_echoes"], counted["cnps"], counted["ring_full"]) == (1, 1, 0, 0)


def test_cnp_becomes_a_record(rig: Bench) -> None:
    reader = Reader(rig)
    _, cnp = rig.rx(rig.tx(data(flow=5, framing=FRAMING, tos=CE)))
    assert rig.rx(cnp)[0] == SHOT
    (record,) = reader.records()
    assert (record["opcode"], record["flow"], record["tx_ns"], record["hops"]) == (wire.CNP, 5, 0, 0)
    counted = rig.nic.flows_tx[5]
    assert (counted["acks"], counted["ce_echoes"], counted["cnps"]) == (0, 0, 1)  # CE was echoed by the ACK


@pytest.mark.parametrize("hops", [0, 1, wire.MAX_HOPS])
def test_as_many_hops_as_were_stamped(rig: Bench, hops: int) -> None:
    """Of 5 reserved records, those that a port filled in."""
    framing = Framing(payload=100, int_hops=wire.MAX_HOPS)
    reader = Reader(rig)
    frame = rig.tx(data(framing=framing))
    rig.freeze(100)
    for _ in range(hops):
        _, frame = rig.egress(frame)
    rig.rx(rig.rx(frame)[1])
    (record,) = reader.records()
    assert record["hops"] == hops
    assert record["hop"]["queue"][:hops].tolist() == [100 + i * len(frame) for i in range(hops)]


def test_records_go_to_the_agent_of_the_flow() -> None:
    with bench(rings=2) as rig:
        readers = [Reader(rig, agent) for agent in range(2)]
        rig.nic.flows_tx["ring"][:] = [0, 0, 0, 0, 1, 1, 1, 1]
        for flow in (1, 6, 2, 7):
            rig.rx(rig.rx(data(flow=flow))[1])
        assert [reader.records()["flow"].tolist() for reader in readers] == [[1, 2], [6, 7]]


def test_feedback_of_strangers_reaches_the_host(rig: Bench) -> None:
    ack = bytearray(data(flow=STRANGER))
    ack[42] = wire.ACK
    assert rig.rx(bytes(ack)) == (OK, bytes(ack))


def test_full_ring_is_counted(rig: Bench) -> None:
    """The kernel keeps at least one byte free."""
    reader = Reader(rig)
    _, ack = rig.rx(data(flow=2))
    room = (RING_SIZE - 1) // (HEADER + wire.RECORD.itemsize)
    rig.rx(ack, repeat=room)
    assert rig.nic.flows_tx["ring_full"][2] == 0
    assert rig.rx(ack, repeat=7)[0] == SHOT
    assert rig.nic.flows_tx["ring_full"][2] == 7
    assert rig.nic.flows_tx["acks"][2] == room + 7
    assert len(reader.records()) == room
    rig.rx(ack)
    assert len(reader.records()) == 1  # over the end of the ring and on
    assert rig.nic.flows_tx["ring_full"][2] == 7


class Reader:
    """Reads a ring as an agent does."""

    def __init__(self, rig: Bench, agent: int = 0) -> None:
        self.ring = Ring(rig.nic.ring_fds[agent], RING_SIZE)
        self.position = self.ring._consumer
        self.produced = self.ring._rest[:8].view(np.uint64)

    def records(self) -> np.ndarray:
        step = HEADER + wire.RECORD.itemsize
        start, end = int(self.position[0]), int(self.produced[0])
        assert (end - start) % step == 0
        found = []
        for at in range(start, end, step):
            begin = mmap.PAGESIZE + at % RING_SIZE
            raw = self.ring._rest[begin : begin + step]
            assert raw[:4].view(np.uint32)[0] == wire.RECORD.itemsize  # complete, not discarded
            found.append(raw[HEADER:].copy().view(wire.RECORD)[0])
        self.position[0] = end
        return np.array(found, wire.RECORD)
