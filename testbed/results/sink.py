"""Where a file's content is written to, in memory.

Bytes that grow are copied, and each of their small pages costs a fault; large ones cost several times less.
"""

from __future__ import annotations

import mmap

import numpy as np
from numpy.typing import NDArray

CHUNK = 32 << 20  # bytes of address space; memory is taken as it is used


class Sink:
    """A binary file to write to."""

    closed = False

    def __init__(self) -> None:
        self._full: list[NDArray[np.uint8]] = []
        self._begin(CHUNK)

    def _begin(self, size: int) -> None:
        self._chunk = mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        if hasattr(mmap, "MADV_HUGEPAGE"):
            self._chunk.madvise(mmap.MADV_HUGEPAGE)

    def write(self, data: bytes) -> int:
        """All of it."""
        if self._chunk.tell() + len(data) > len(self._chunk):
            self._full.append(self._written())
            self._begin(max(CHUNK, len(data)))
        return self._chunk.write(data)

    def _written(self) -> NDArray[np.uint8]:
        return np.frombuffer(self._chunk, np.uint8, self._chunk.tell())

    def tell(self) -> int:
        """How many bytes there are."""
        return sum(map(len, self._full)) + self._chunk.tell()

    def flush(self) -> None:
        """It is written."""

    def content(self) -> NDArray[np.uint8]:
        """What was written, in the same memory if it is one piece."""
        return np.concatenate([*self._full, self._written()]) if self._full else self._written()
