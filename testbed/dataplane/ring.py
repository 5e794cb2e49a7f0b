"""Reading a BPF ring buffer as a numpy array, with no system call.

Layout (kernel, Documentation/bpf/ringbuf.rst): one page with the consumer's position, one with the producer's, then
the data mapped twice in a row, so that records never wrap. Every record has an 8-byte header whose first word is its
length, with the top bits set while the record is being written or was discarded.
"""

from __future__ import annotations

import mmap
import struct

import numpy as np
from numpy.typing import NDArray

from testbed.dataplane.wire import RECORD

PAGE = mmap.PAGESIZE
BUSY = 1 << 31
HEADER = 8
RX_NS = struct.Struct("=Q")  # the first field of a record
# A record with its header, all fields at one level: nested dtypes are slow to reach into.
SLOT = np.dtype(
    {
        "names": ["header", *RECORD.names],
        "formats": ["<u4", *(RECORD.fields[name][0] for name in RECORD.names)],
        "offsets": [0, *(HEADER + RECORD.fields[name][1] for name in RECORD.names)],
        "itemsize": HEADER + RECORD.itemsize,
    }
)


class Ring:
    """The consumer's side of one ring buffer. All records have the size of `wire.RECORD`."""

    def __init__(self, fd: int, size: int) -> None:
        self.fd = fd
        self.size = size
        self._consumer = mmap.mmap(fd, PAGE, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE, offset=0)
        self._producer = mmap.mmap(fd, PAGE + 2 * size, mmap.MAP_SHARED, mmap.PROT_READ, offset=PAGE)
        self._read_position = memoryview(self._consumer).cast("Q")
        self._write_position = memoryview(self._producer)[:8].cast("Q")
        self._slots = memoryview(self._producer)[PAGE:]
        self.high_water = 0  # most bytes that were ever waiting

    def __len__(self) -> int:
        """Records that wait."""
        return (self._write_position[0] - self._read_position[0]) // SLOT.itemsize

    def oldest_stamp(self) -> int:
        """``rx_ns`` of the oldest record; there must be one."""
        return RX_NS.unpack_from(self._slots, self._read_position[0] % self.size + HEADER)[0]

    def waiting(self) -> NDArray[np.void]:
        """A view of what waits, oldest first, with dtype `SLOT`; valid until `consume`."""
        start, end = self._read_position[0], self._write_position[0]
        self.high_water = max(self.high_water, end - start)
        slots = np.frombuffer(self._slots, SLOT, (end - start) // SLOT.itemsize, start % self.size)
        unfinished = slots["header"] >= BUSY
        return slots[: unfinished.argmax()] if unfinished.any() else slots

    def consume(self, records: int) -> None:
        """Give the oldest records back to the kernel."""
        self._read_position[0] += records * SLOT.itemsize
