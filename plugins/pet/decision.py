"""From the network's scores to an action: three heads, Kmin, Kmax and Pmax, where Kmax must be above Kmin."""

from __future__ import annotations

import numpy as np

from testbed.base.arrays import Floats, Ints

from ..learned.grid import Grid, Mask

NEVER = -1e9  # added to the score of an action that is not valid


class Heads:
    """Splits scores into heads and masks them. Kmin is chosen first, Kmax among those above it."""

    def __init__(self, grid: Grid, buffer: Floats) -> None:
        self.grid = grid
        kmax: Mask = grid.kmax_mask(buffer)  # (n, kmins, kmaxs)
        self.no_kmax = np.where(kmax, 0.0, NEVER)
        self.no_kmin = np.where(kmax.any(axis=2), 0.0, NEVER)
        self._rows = np.arange(len(buffer))

    def best(self, scores: Floats) -> Ints:
        """The action with the highest scores in every row, shape (n, 3)."""
        kmins, kmaxs, _ = self.grid.sizes
        chosen = np.empty((len(scores), 3), np.int64)
        chosen[:, 0] = kmin = (scores[:, :kmins] + self.no_kmin).argmax(axis=1)
        chosen[:, 1] = (scores[:, kmins : kmins + kmaxs] + self.no_kmax[self._rows, kmin]).argmax(axis=1)
        chosen[:, 2] = scores[:, kmins + kmaxs :].argmax(axis=1)
        return chosen
