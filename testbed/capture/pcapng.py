"""Writes pcapng (draft-ietf-opsawg-pcapng): one section with one interface, many packets, their statistics.

Time stamps are nominal, since the start of the run.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from functools import cache
from typing import BinaryIO

SECTION, INTERFACE, STATISTICS, PACKET = 0x0A0D0D0A, 1, 5, 6  # block types
BYTE_ORDER = 0x1A2B3C4D
ETHERNET = 1  # link type
END, COMMENT = 0, 1  # options of any block
APPLICATION = 4  # of a section
NAME, DESCRIPTION, SPEED, RESOLUTION = 2, 3, 8, 9  # of an interface
FLAGS = 2  # of a packet
RECEIVED, DROPPED = 4, 5  # of statistics
NANOSECONDS, PICOSECONDS = 9, 12  # 10^-9, 10^-12
INBOUND, OUTBOUND = 1, 2

HEAD = struct.Struct("=IIIIIII")  # type, length, interface, time (high, low), captured bytes, bytes on the wire
FLAGS_AND_END = struct.Struct("=HHIII")  # option, its length, its value, end of options, length of the block


class Writer:
    """Blocks into a binary file, in native byte order."""

    def __init__(self, file: BinaryIO, resolution: int = NANOSECONDS) -> None:
        """Times are in units of 10^-``resolution`` s."""
        self.file, self.resolution = file, resolution

    def section(self, application: str, comments: Sequence[str]) -> None:
        """Who wrote this, and what it is."""
        options = [(COMMENT, text.encode()) for text in comments] + [(APPLICATION, application.encode())]
        self._block(SECTION, struct.pack("=IHHq", BYTE_ORDER, 1, 0, -1), options)

    def interface(self, name: str, about: str, speed: float, snap: int) -> None:
        """The point. ``speed`` is the nominal rate in bit/s, ``snap`` the bytes kept of each packet."""
        options = [(NAME, name.encode())] + ([(DESCRIPTION, about.encode())] if about else [])
        options += [(SPEED, struct.pack("=Q", round(speed))), (RESOLUTION, bytes([self.resolution]))]
        self._block(INTERFACE, struct.pack("=HHI", ETHERNET, 0, snap), options)

    def packets(
        self, times: Sequence[int], frames: Sequence[bytes], lengths: Sequence[int], outgoing: Sequence[bool]
    ) -> None:
        """One block per packet, all in one write."""
        parts: list[bytes] = []
        for time, frame, length, out in zip(times, frames, lengths, outgoing, strict=True):
            size, tail = _tail(len(frame), out)
            parts += (HEAD.pack(PACKET, size, 0, time >> 32, time & 0xFFFFFFFF, len(frame), length), frame, tail)
        self.file.write(b"".join(parts))

    def statistics(self, time: int, received: int, dropped: int) -> None:
        """How many packets there were, and how many of them are missing here."""
        counts = [(RECEIVED, struct.pack("=Q", received)), (DROPPED, struct.pack("=Q", dropped))]
        self._block(STATISTICS, struct.pack("=III", 0, time >> 32, time & 0xFFFFFFFF), counts)
        self.file.flush()

    def _block(self, kind: int, body: bytes, options: Sequence[tuple[int, bytes]]) -> None:
        body += b"".join(
            struct.pack("=HH", code, len(value)) + value + bytes(-len(value) % 4)
            for code, value in [*options, (END, b"")]
        )
        size = 12 + len(body)
        self.file.write(struct.pack("=II", kind, size) + body + struct.pack("=I", size))


@cache
def _tail(captured: int, out: bool) -> tuple[int, bytes]:
    """Size of a packet's block, and what follows its data: there are few different ones."""
    padding = -captured % 4
    size = HEAD.size + captured + padding + FLAGS_AND_END.size
    return size, bytes(padding) + FLAGS_AND_END.pack(FLAGS, 4, OUTBOUND if out else INBOUND, END, size)
