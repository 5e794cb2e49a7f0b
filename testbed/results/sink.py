"""Where a file's content is written to, in memory: bytes that grow would be copied."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from testbed.base.pages import CHUNK, large_pages


class Sink:
    """A binary file to write to."""

    closed = False

    def __init__(self) -> None:
        self._full: list[NDArray[np.uint8]] = []
        self._chunk = large_pages(CHUNK)

    def write(self, data: bytes) -> int:
        """All of it."""
        if self._chunk.tell() + len(data) > len(self._chunk):
            self._full.append(self._written())
            self._chunk = large_pages(max(CHUNK, len(data)))
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
