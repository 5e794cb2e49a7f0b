"""Columns per flow to columns per controller, for a run whose flows several controllers decide about."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from testbed.base.arrays import Floats, Ints

Column = TypeVar("Column", Floats, Ints)


class ByController:
    """Its ``names`` are in the order of their first flows, as those of `testbed.results.figures.sharing`."""

    def __init__(self, deciding: Sequence[str]) -> None:
        """``deciding``: the name of each flow's controller."""
        self.names = tuple(dict.fromkeys(deciding))
        number = {name: at for at, name in enumerate(self.names)}
        of = np.array([number[name] for name in deciding])
        self._order = np.argsort(of, kind="stable")
        self._first = np.searchsorted(of[self._order], np.arange(len(self.names)))

    def sum(self, column: Column) -> Column:
        """Of columns with one row per flow, shape (n,) or (n, k)."""
        if len(self.names) == 1:  # most runs: nothing to sort
            return np.asarray(column.sum(axis=0, keepdims=True))
        return np.add.reduceat(column[self._order], self._first, axis=0)
