"""Series in memory, column by column."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Mapping
from ctypes import c_int64, c_void_p
from functools import cache, partial
from pathlib import Path

import numpy as np

from testbed.base.arrays import Floats, Ints
from testbed.base.compiler import LIBRARY_FLAGS, Unit

UNKNOWN = 64  # samples that there is room for, where nobody knows how many there will be
SOURCE = Path(__file__).with_suffix(".c")
SAMPLES = Unit("samples", (SOURCE,), ".so", LIBRARY_FLAGS, headers=(SOURCE.parent,))
_library = cache(partial(SAMPLES.library, add_sample=(None, [c_void_p, c_void_p])))


class CSamples(ctypes.Structure):
    """struct samples of samples.h."""

    _fields_ = [
        *((name, c_void_p) for name in ("memory", "same", "changed")),
        *((name, c_int64) for name in ("columns", "width", "room", "length")),
    ]


class Samples:
    """Columns of samples, in memory that is there once it is written to.

    It grows if there are more samples than were ``expected``. A column that is the same in all samples takes none.
    """

    def __init__(self, names: Iterable[str], expected: int) -> None:
        self._names = list(names)
        self.c = CSamples(columns=len(self._names), room=expected or UNKNOWN)
        self._add = _library().add_sample

    def begin(self, width: int) -> None:
        """So many numbers are a row of each column, of which there is none yet."""
        self.c.width = width
        self._same, self._changed = np.zeros((len(self._names), width)), np.zeros(len(self._names), np.int64)
        self.c.same, self.c.changed = self._same.ctypes.data, self._changed.ctypes.data
        self._make_room()

    def _make_room(self) -> None:
        # one piece: the kernel gives large pages to large ones
        self._memory = np.empty((len(self._names), self.c.room, self.c.width))
        self.c.memory = self._memory.ctypes.data

    def add(self, columns: Mapping[str, Floats | Ints]) -> None:
        """Add one."""
        sample = np.array([columns[name] for name in self._names], float)
        if not self.c.length:
            self.begin(sample.shape[1])
        if self.c.length == self.c.room:
            self._grow()
        self._add(ctypes.addressof(self.c), sample.ctypes.data)

    def _grow(self) -> None:
        before, length = self._memory, self.c.length
        self.c.room *= 2
        self._make_room()
        for number in np.flatnonzero(self._changed):
            self._memory[number, :length] = before[number, :length]

    def columns(self) -> dict[str, Floats]:
        """All samples, shape (t, width); not to be written to."""
        length = self.c.length
        return {
            name: memory[:length] if changed else np.broadcast_to(same, (length, len(same)))
            for name, memory, same, changed in zip(self._names, self._memory, self._same, self._changed, strict=True)
        }
