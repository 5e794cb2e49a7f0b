"""Memory of a world, in large pages: a large rack's structs are on more small pages than the TLB has entries for."""

from __future__ import annotations

import math
import mmap
from typing import Any, ClassVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

from testbed.base.pages import large_pages

CACHE_LINE = 64  # bytes
CHUNK = 32 << 20  # bytes of address space; memory is taken as it is used


class LargePages:
    """Arrays live as long as this does, unless it is given back."""

    _idle: ClassVar[list[mmap.mmap]] = []  # zeros: a large page takes up to milliseconds to get

    def __init__(self) -> None:
        self._chunks: list[mmap.mmap] = []
        self._used = self._size = 0

    def zeros(self, shape: int | tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
        """As `numpy.zeros`, from the beginning of a line of the cache on."""
        form = np.dtype(dtype)
        count = math.prod(shape) if isinstance(shape, tuple) else shape
        if self._used + count * form.itemsize > self._size:
            self._grow(count * form.itemsize)
        array = np.frombuffer(self._chunks[-1], form, count, self._used).reshape(shape)
        self._used += -(-count * form.itemsize // CACHE_LINE) * CACHE_LINE
        return array

    def give_back(self) -> None:
        """For others. Nobody may look at its arrays any more."""
        for chunk in self._chunks[-1:]:
            np.frombuffer(chunk, np.uint8, self._used).fill(0)
            self._idle.append(chunk)
        self._chunks, self._used, self._size = [], 0, 0

    def _grow(self, least: int) -> None:
        self._used, self._size = 0, max(CHUNK, least)
        if self._size == CHUNK and self._idle:
            self._chunks.append(self._idle.pop())
            return
        self._chunks.append(large_pages(self._size))
