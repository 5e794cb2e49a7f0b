"""Replay memory: the newest transitions of one switch, or of all (ACC's local and global replay)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from testbed.base.arrays import Floats, Ints


class Transitions(NamedTuple):
    """Rows of what was seen, done and gained, and what was seen then."""

    features: Floats
    actions: Ints
    rewards: Floats
    following: Floats


def taken(columns: Transitions, rows: Ints | np.ndarray) -> Transitions:
    """Some rows, by number or mask."""
    return Transitions(columns.features[rows], columns.actions[rows], columns.rewards[rows], columns.following[rows])


class Replay:
    """A ring of ``size`` transitions."""

    def __init__(self, size: int, features: int) -> None:
        self.size = size
        self._columns = Transitions(
            np.zeros((size, features), np.float32),
            np.zeros(size, np.int64),
            np.zeros(size, np.float32),
            np.zeros((size, features), np.float32),
        )
        self._added = 0

    def __len__(self) -> int:
        return min(self._added, self.size)

    def add(self, rows: Transitions) -> None:
        """Append rows, in place of the oldest ones."""
        at = (self._added + np.arange(len(rows.actions))) % self.size
        for column, new in zip(self._columns, rows, strict=True):
            column[at] = new
        self._added += len(at)

    def draw(self, count: int, rng: np.random.Generator) -> Transitions:
        """Rows drawn evenly, with repetition."""
        return taken(self._columns, rng.integers(0, len(self), count))
