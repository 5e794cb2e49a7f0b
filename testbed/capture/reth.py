"""Where InfiniBand has the RETH of a message's first RDMA WRITE packet: behind the BTH, when it leaves for a capture.

In a rack it is in front of the payload, so that NICs and switches find everything else where they find it in a SEND.
"""

from __future__ import annotations

from testbed.capture.icrc import BTH, is_roce
from testbed.dataplane import wire
from testbed.experiment.topology.framing import RETH

BEGINS = (wire.WRITE + wire.SEND_FIRST, wire.WRITE + wire.SEND_ONLY_IMM)
IMM = BTH + 12
SHIM = IMM + 4
FLAGS, INT = SHIM + 13, SHIM + wire.SHIM.size


def in_front(frame: bytes) -> bytes:
    """The frame, or its first bytes, with the RETH in its place; others as they are."""
    if not is_roce(frame) or frame[BTH] not in BEGINS:
        return frame
    reth = INT + (4 + 4 * frame[INT + 1] if frame[FLAGS] & wire.SHIM_INT else 0)
    if len(frame) < reth + RETH:
        return frame
    return frame[:IMM] + frame[reth : reth + RETH] + frame[IMM:reth] + frame[reth + RETH :]
