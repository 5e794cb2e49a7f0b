"""Histograms of times with logarithmic bins, in shared memory. The datapath counts; here are their edges."""

from __future__ import annotations

import math

import numpy as np

from testbed.base.arrays import Floats, Ints
from testbed.base.shared import Shared

SMALLEST = 1e-12  # s; everything below falls into the first bin, as in datapath.h
OCTAVES = 44  # up to 17 s


class TimeHistogram:
    """Counts of times (s) with ``per_octave`` bins per doubling, and the largest and the smallest time seen."""

    def __init__(self, per_octave: int) -> None:
        self.per_octave = per_octave
        self.counts = Shared.ints(OCTAVES * per_octave)
        self._counts = self.counts.data  # quicker than numpy for one number
        self.top = Shared.floats(1)
        self.bottom = Shared.floats(1, fill=np.inf)

    def add(self, time: float) -> None:
        """Count one; for what happens a few thousand times per second."""
        position = int(math.log2(time / SMALLEST) * self.per_octave) if time > SMALLEST else 0
        self._counts[min(position, len(self._counts) - 1)] += 1

    @property
    def edges(self) -> Floats:
        """Bin edges in seconds, one more than bins."""
        return edges(self.per_octave)


def bins(times: Floats, per_octave: int) -> Ints:
    """The bins into which times (s) fall."""
    positions = np.log2(np.maximum(times, SMALLEST) / SMALLEST) * per_octave
    return np.minimum(positions.astype(np.int64), OCTAVES * per_octave - 1)


def edges(per_octave: int) -> Floats:
    """Bin edges in seconds of a histogram with ``per_octave`` bins per doubling."""
    return SMALLEST * np.exp2(np.arange(OCTAVES * per_octave + 1) / per_octave)
