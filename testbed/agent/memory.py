"""Columns that C points to."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
from numpy.typing import NDArray

from testbed.agent.histogram import TimeHistogram
from testbed.agent.structs import CHeap, CHistogram


class Memory:
    """Columns live as long as this."""

    def __init__(self) -> None:
        self._kept: list[NDArray[Any]] = []

    def keep(self, column: NDArray[Any]) -> int:
        """Its address."""
        assert column.flags.c_contiguous
        self._kept.append(column)
        return int(column.ctypes.data)

    def point(self, struct: ctypes.Structure, name: str, column: NDArray[Any]) -> NDArray[Any]:
        """The struct's field ``name`` points to the column."""
        setattr(struct, name, self.keep(column))
        return column

    def heap(self, ids: int) -> CHeap:
        """An empty heap for moments of as many ids."""
        return CHeap(self.keep(np.zeros((ids, 2))), self.keep(np.full(ids, -1)), 0)

    def histogram(self, histogram: TimeHistogram) -> CHistogram:
        """Shares its counts."""
        columns = (histogram.counts, histogram.top, histogram.bottom)
        return CHistogram(*map(self.keep, columns), len(histogram.counts), histogram.per_octave)
