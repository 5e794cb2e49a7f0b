"""The consumer's side of a BPF ring buffer in memory: reading it takes no system call.

Layout (kernel, Documentation/bpf/ringbuf.rst): one page with the consumer's position, one with the producer's, then
the data mapped twice in a row, so that records never wrap.
"""

from __future__ import annotations

import mmap

import numpy as np
from numpy.typing import NDArray

from testbed.dataplane.wire import RECORD

PAGE = mmap.PAGESIZE
BUSY = 1 << 31  # in the header: another core is still writing the record


class Ring:
    """One ring buffer of equal records, mapped."""

    def __init__(self, fd: int, size: int, record: np.dtype[np.void] = RECORD) -> None:
        self.fd = fd
        self.size = size
        self._slot = np.dtype([("header", "<u8"), ("record", record)])
        self._consumer = np.frombuffer(
            mmap.mmap(fd, PAGE, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE, offset=0), np.uint64
        )
        self._rest = np.frombuffer(
            mmap.mmap(fd, PAGE + 2 * size, mmap.MAP_SHARED, mmap.PROT_READ, offset=PAGE), np.uint8
        )

    def waiting(self) -> NDArray[np.void]:
        """A view of the complete records in the buffer, oldest first."""
        start, end = int(self._consumer[0]), int(self._rest[:8].view(np.uint64)[0])
        offset = PAGE + start % self.size
        slots = self._rest[offset : offset + end - start].view(self._slot)
        busy = (slots["header"] & np.uint64(BUSY)) != 0
        return slots["record"][: int(busy.argmax()) if busy.any() else len(slots)]

    def consume(self, records: int) -> None:
        """Release the oldest records to the kernel."""
        self._consumer[0] += np.uint64(records * self._slot.itemsize)

    def addresses(self) -> tuple[int, int, int]:
        """Of the consumer's position, the producer's position, and the data."""
        return self._consumer.ctypes.data, self._rest.ctypes.data, self._rest.ctypes.data + PAGE
