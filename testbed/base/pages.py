"""Memory in large pages: each costs a fraction of the small ones that it stands for, and of the TLB one entry."""

from __future__ import annotations

import math
import mmap
import sys
from typing import Any, ClassVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

CACHE_LINE = 64  # bytes
UNRESERVED = 0x4000 if sys.platform == "linux" else 0  # MAP_NORESERVE, which Python does not name
CHUNK = 32 << 20  # bytes of address space; memory is taken as it is used


def large_pages(size: int) -> mmap.mmap:
    """So many bytes of address space, all zero; memory is taken as it is used."""
    return _space(size, "MADV_HUGEPAGE")


def small_zeros(shape: tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
    """As `numpy.zeros`, of whose columns most often only the beginning is used.

    A large page for each takes longer to get than a short run, where a virtual machine has to ask its host for it.
    """
    form = np.dtype(dtype)
    pages = _space(max(math.prod(shape) * form.itemsize, 1), "MADV_NOHUGEPAGE")
    return np.frombuffer(pages, form, math.prod(shape)).reshape(shape)


def _space(size: int, advice: str) -> mmap.mmap:
    pages = mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | UNRESERVED)
    if hasattr(mmap, advice):
        pages.madvise(getattr(mmap, advice))
    return pages


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
