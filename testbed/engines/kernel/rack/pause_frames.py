"""Pause frames of IEEE 802.1Qbb: MAC control, opcode 0x0101, a pause time for each of eight priorities.

They go to the peer of one link and are never forwarded. The padding, which hardware ignores, carries the wall time
of the crossing that the frame reports.
"""

from __future__ import annotations

import struct

from testbed.clock import WallRate, WallSeconds
from testbed.dataplane.wire import PRIORITIES

DESTINATION = bytes.fromhex("0180c2000001")  # the peer, whatever it is
ETHERTYPE = 0x8808
OPCODE = 0x0101
LONGEST = 0xFFFF  # quanta
QUANTUM_BITS = 512
FRAME = struct.Struct("!6s6sHHH8HQ18s")


def wake(source: bytes) -> bytes:
    """A frame that pauses nothing: it goes through a port's queue and makes its shaper dequeue again."""
    return FRAME.pack(DESTINATION, source, ETHERTYPE, OPCODE, 0, *[0] * PRIORITIES, 0, bytes(18))


def frame(source: bytes, priority: int, quanta: int, ns: int) -> bytes:
    """Pause a priority for ``quanta`` of 512 bit times, or resume it (0); ``source`` is the port."""
    times = [quanta if one == priority else 0 for one in range(PRIORITIES)]
    return FRAME.pack(DESTINATION, source, ETHERTYPE, OPCODE, 1 << priority, *times, ns, bytes(18))


def quantum(rate: WallRate) -> WallSeconds:
    """Seconds that one quantum lasts on a link of ``rate`` bit/s."""
    return WallSeconds(QUANTUM_BITS / rate)
