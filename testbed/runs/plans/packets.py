"""Data packets of a capture at a receiver's NIC, as columns: when, with CE or not, and the depth that they found."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from testbed.base.arrays import Floats, Ints
from testbed.capture.reader import Reader
from testbed.dataplane.wire import ACK, CNP, INT_HEADER, INT_HOP, SHIM_CE, SRC
from testbed.experiment.topology.framing import BTH, ETHERNET_IP_UDP, SHIM

TOS_AT, SOURCE_AT = 15, 28  # of IPv4 behind Ethernet; the last two bytes of the source address
STACK_AT = ETHERNET_IP_UDP + BTH + SHIM + INT_HEADER.size
FLAGS_AT = ETHERNET_IP_UDP + BTH + SHIM - 3  # of the shim; two bytes follow
NOTICES = (CNP, SRC)
NOT_STAMPED = (0, float("nan"), 0, float("nan"), 0)
CE = 3
PAUSE = b"\x88\x08"  # Ethernet's type of MAC control


@dataclass(frozen=True)
class Packets:
    """Data, and the ACKs that say what became of it: one entry each, in the order in which they came."""

    time: Floats  # s
    sender: Ints  # number of the host
    tos: Ints
    marked: NDArray[np.bool_]  # CE; of an ACK, that of its data
    depth: Floats  # bytes in the last switch's queue that it found; nan without INT
    left: Floats  # bytes that had left the port by then
    pauses: Floats  # when pause frames came

    @classmethod
    def read(cls, file: Path) -> Packets:
        """Of a capture that came in."""
        rows, pauses = [], []
        for frame in Reader(file):
            data = frame.data
            if data[12:14] == PAUSE:
                pauses.append(frame.time)
                continue
            if len(data) <= ETHERNET_IP_UDP or data[ETHERNET_IP_UDP] in NOTICES:
                continue
            echo = data[ETHERNET_IP_UDP] == ACK
            marked = data[FLAGS_AT] & SHIM_CE > 0 if echo else data[TOS_AT] & CE == CE
            stamped = len(data) >= STACK_AT + INT_HOP.size
            _, depth, _, left, _ = INT_HOP.unpack_from(data, STACK_AT) if stamped else NOT_STAMPED
            sender = int.from_bytes(data[SOURCE_AT : SOURCE_AT + 2], "big")
            rows.append((frame.time, sender, data[TOS_AT], marked, depth, left))
        columns = np.array(rows, float).reshape(-1, 6).T
        sender_of, tos = columns[1].astype(np.int64), columns[2].astype(np.int64)
        return cls(columns[0], sender_of, tos, columns[3] > 0, columns[4], columns[5], np.array(pauses))
