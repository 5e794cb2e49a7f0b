"""A packet socket that the kernel fills through shared memory (TPACKET_V3): packets of one interface.

The kernel writes packet after packet into blocks; reading a block costs no system call. The ring holds a second of
what a rack can do, for its reader is starved while the agents, which have real-time priority, are busy.
"""

from __future__ import annotations

import ctypes
import mmap
import socket
import struct
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from testbed.base import linux

ETH_P_ALL = 0x0003
SOL_PACKET = 263
PACKET_RX_RING, PACKET_STATISTICS, PACKET_VERSION, PACKET_IGNORE_OUTGOING = 5, 6, 10, 23
TPACKET_V3 = 2
SO_ATTACH_FILTER = 26
BPF_LOAD, BPF_JUMP_EQUAL, BPF_RETURN = 0x20, 0x15, 0x06
MARK = 0xFFFFF014  # where a filter loads the mark of a packet from

REQUEST = struct.Struct("=IIIIIII")  # block size, blocks, frame size, frames, retire ms, private bytes, features
STATISTICS = struct.Struct("=III")  # packets (with the dropped ones), dropped, times that the ring was frozen
BLOCK = struct.Struct("=IIIII")  # version, private offset, status, packets, offset of the first packet
STATUS_AT = 8  # in a block
STATUS_KERNEL, STATUS_USER = 0, 1
PACKET = struct.Struct("=IIIIIIH")  # next, seconds, ns, captured bytes, bytes on the wire, status, where it begins
TYPE_AT = 48 + 10  # in a packet: struct tpacket3_hdr, then sll_pkttype of struct sockaddr_ll
OUTGOING = 4

BLOCK_SIZE = 1 << 18
FRAME = 2048  # the kernel demands one and does not use it
MOST_BLOCKS, LEAST_BLOCKS = 128, 16  # 32 MiB hold a second of 30,000 whole packets
BLOCKS_IN_ALL = 1024  # of all rings: what they share are the packets of one machine
RETIRE_MS = 50  # when the kernel hands over a block that is not full


@dataclass(frozen=True)
class Batch:
    """Packets of one block, in the order of their arrival."""

    stamps: NDArray[np.int64]  # ns, CLOCK_REALTIME
    frames: list[bytes]  # as far as they were captured
    lengths: list[int]  # bytes on the wire
    outgoing: list[bool]


class Ring:
    """Captures the first ``snap`` bytes of every packet of an interface, or of each that comes in, from now on."""

    def __init__(self, netns: int, interface: str, snap: int, rings: int = 1, outgoing: bool = True) -> None:
        """One of ``rings``. Raises OSError if the kernel has no memory for it."""
        self._blocks = min(MOST_BLOCKS, max(LEAST_BLOCKS, BLOCKS_IN_ALL // rings))
        with linux.inside(netns):
            self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)  # nothing before it is bound
        self.socket.setsockopt(SOL_PACKET, PACKET_VERSION, TPACKET_V3)
        request = REQUEST.pack(BLOCK_SIZE, self._blocks, FRAME, BLOCK_SIZE // FRAME * self._blocks, RETIRE_MS, 0, 0)
        self.socket.setsockopt(SOL_PACKET, PACKET_RX_RING, request)
        self.socket.setsockopt(SOL_PACKET, PACKET_IGNORE_OUTGOING, not outgoing)
        self._keep_only(snap)
        self._memory = mmap.mmap(self.socket.fileno(), BLOCK_SIZE * self._blocks)
        self._next = 0
        self.packets = self.dropped = self.read = 0
        self.socket.bind((interface, ETH_P_ALL))

    def fileno(self) -> int:
        """For poll(): readable when a block is."""
        return self.socket.fileno()

    def close(self) -> None:
        """Let go of the kernel's side. The memory goes with its last user."""
        self._memory.close()
        self.socket.close()

    def stop(self) -> None:
        """Capture no more; what is in the ring can still be read."""
        self._keep_only(0)
        self._count()

    @property
    def unread(self) -> int:
        """Packets that were captured and not read yet; exact after `stop`."""
        return self.packets - self.dropped - self.read

    def batch(self) -> Batch | None:
        """The next block that is full or old enough; None if there is none."""
        start = self._next * BLOCK_SIZE
        _, _, status, count, first = BLOCK.unpack_from(self._memory, start)
        if not status & STATUS_USER:
            return None
        found = self._parse(start + first, count)
        struct.pack_into("=I", self._memory, start + STATUS_AT, STATUS_KERNEL)
        self._next = (self._next + 1) % self._blocks
        self.read += count
        return found

    def _parse(self, at: int, count: int) -> Batch:
        memory = self._memory
        stamps = np.empty(count, np.int64)
        frames: list[bytes] = []
        lengths: list[int] = []
        outgoing: list[bool] = []
        for number in range(count):
            step, seconds, ns, captured, length, _, begins = PACKET.unpack_from(memory, at)
            stamps[number] = seconds * 1_000_000_000 + ns
            frames.append(memory[at + begins : at + begins + captured])
            lengths.append(length)
            outgoing.append(memory[at + TYPE_AT] == OUTGOING)
            at += step
        return Batch(stamps, frames, lengths, outgoing)

    def _keep_only(self, snap: int) -> None:
        """A filter: so many bytes of every packet, but for copies of which SRCs are yet to be made (bolt.bpf.h)."""
        filtered = (BPF_LOAD, 0, 0, MARK), (BPF_JUMP_EQUAL, 0, 1, 0), (BPF_RETURN, 0, 0, snap), (BPF_RETURN, 0, 0, 0)
        code = b"".join(struct.pack("=HBBI", *one) for one in filtered)
        instructions = ctypes.create_string_buffer(code, len(code))
        program = struct.pack("@HP", len(filtered), ctypes.addressof(instructions))
        self.socket.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, program)

    def _count(self) -> None:
        """The kernel forgets its counts when it is asked."""
        packets, dropped, _ = STATISTICS.unpack(self.socket.getsockopt(SOL_PACKET, PACKET_STATISTICS, STATISTICS.size))
        self.packets += packets
        self.dropped += dropped
