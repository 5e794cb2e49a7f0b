"""The actions of learned tuners: thresholds on an exponential grid, marking probabilities in even steps.

PET, section 4.2.2: E(n) = alpha 2^n. What a port's buffer cannot hold is cut off, for such an action has no effect.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from testbed.base.arrays import Floats, Ints

Mask = np.ndarray  # of bool


def exponential(alpha: float, levels: int) -> Floats:
    """E(0) .. E(levels - 1), bytes."""
    return np.asarray(alpha * 2.0 ** np.arange(levels))


@dataclass(frozen=True)
class Grid:
    """Values that an action picks one of, each ascending: bytes, bytes, share."""

    kmin: Floats
    kmax: Floats
    pmax: Floats

    @property
    def sizes(self) -> tuple[int, int, int]:
        """Choices of the three heads."""
        return len(self.kmin), len(self.kmax), len(self.pmax)

    def kmax_mask(self, buffer: Floats) -> Mask:
        """Which Kmax may follow which Kmin on queues with these buffers, shape (n, kmins, kmaxs)."""
        pairs = self.kmin[:, None] < self.kmax
        return np.asarray(pairs & (self.kmax <= buffer[:, None, None]))

    def joint(self, buffer: float) -> Ints:
        """All valid actions of a queue, rows (Kmin, Kmax, Pmax) of indices, shape (k, 3)."""
        kmin, kmax = np.nonzero(self.kmax_mask(np.array([buffer]))[0])
        pmax = np.arange(len(self.pmax))
        pairs = np.repeat(np.stack((kmin, kmax), axis=1), len(pmax), axis=0)
        return np.column_stack((pairs, np.tile(pmax, len(kmin))))

    def values(self, actions: Ints) -> tuple[Floats, Floats, Floats]:
        """Kmin, Kmax, Pmax for rows of indices, shape (n, 3)."""
        return self.kmin[actions[:, 0]], self.kmax[actions[:, 1]], self.pmax[actions[:, 2]]
