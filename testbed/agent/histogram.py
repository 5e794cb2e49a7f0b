"""Histograms of times with logarithmic bins, in shared memory. The datapath counts; here are their edges."""

from __future__ import annotations

import numpy as np

from testbed.agent.columns import Shared
from testbed.controller import Floats

SMALLEST = 1e-12  # s; everything below falls into the first bin, as in datapath.h
OCTAVES = 44  # up to 17 s


class TimeHistogram:
    """Counts of times (s) with ``per_octave`` bins per doubling, and the largest and the smallest time seen."""

    def __init__(self, per_octave: int) -> None:
        self.per_octave = per_octave
        self.counts = Shared.ints(OCTAVES * per_octave)
        self.top = Shared.floats(1)
        self.bottom = Shared.floats(1, fill=np.inf)

    @property
    def edges(self) -> Floats:
        """Bin edges in seconds, one more than bins."""
        return SMALLEST * np.exp2(np.arange(len(self.counts) + 1) / self.per_octave)
