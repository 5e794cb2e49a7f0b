"""The RETH in its place: runs with RDMA WRITE show the rest (tests/engines/virtual/test_run_messages.py)."""

from __future__ import annotations

import pytest

from testbed.capture.reth import in_front
from testbed.dataplane import wire
from testbed.experiment.topology.framing import RETH, Framing
from tests.support.packets import on_the_wire

WRITE = wire.WRITE


def carried(opcode: int, hops: int = 0) -> bytes:
    """A packet whose RETH is sixteen bytes of 7."""
    packet = wire.frame(Framing(100, hops, write=True), 0, 100)
    at = wire.room_for_reth(memoryview(packet), 100)  # type: ignore[arg-type]
    return on_the_wire(bytes([opcode]) + packet[1:at] + b"\7" * RETH + packet[at + RETH :])


@pytest.mark.parametrize("hops", [0, 3])
@pytest.mark.parametrize("opcode", [WRITE + wire.SEND_FIRST, WRITE + wire.SEND_ONLY_IMM])
def test_it_is_behind_the_bth(opcode: int, hops: int) -> None:
    frame = carried(opcode, hops)
    found = in_front(frame)
    assert found[54:70] == b"\7" * RETH
    assert found[:54] + found[70:] == frame.replace(b"\7" * RETH, b"")


@pytest.mark.parametrize("opcode", [WRITE + wire.SEND_MIDDLE, WRITE + wire.SEND_LAST_IMM, wire.SEND_ONLY_IMM, wire.ACK])
def test_others_are_as_they_were(opcode: int) -> None:
    frame = carried(opcode)
    assert in_front(frame) == frame


def test_what_is_cut_before_it_is_as_it_was() -> None:
    frame = carried(WRITE + wire.SEND_FIRST)[:80]
    assert in_front(frame) == frame
