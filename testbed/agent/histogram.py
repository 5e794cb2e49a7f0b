"""Histograms of times with logarithmic bins, in shared memory."""

from __future__ import annotations

import numpy as np

from testbed.agent.columns import Shared
from testbed.controller import Floats

SMALLEST = 1e-12  # s; everything below falls into the first bin
OCTAVES = 44  # up to 17 s
AT_ONCE = 512  # samples are counted in bulk, for numpy's calls cost more than a sample


class TimeHistogram:
    """Counts of times (s) with ``per_octave`` bins per doubling, and the largest time seen."""

    def __init__(self, per_octave: int) -> None:
        self.per_octave = per_octave
        self.counts = Shared.ints(OCTAVES * per_octave)
        self.top = Shared.floats(1)
        self._few: list[float] = []
        self._arrays: list[Floats] = []
        self._noted = 0

    def note(self, time: float) -> None:
        """Count one time, soon."""
        self._few.append(time)
        if len(self._few) >= AT_ONCE:
            self.flush()

    def note_all(self, times: Floats) -> None:
        """Count all of ``times``, soon; nan is not allowed."""
        self._arrays.append(times)
        self._noted += len(times)
        if self._noted >= AT_ONCE:
            self.flush()

    def flush(self) -> None:
        """Count what was noted so far."""
        times = np.concatenate([np.array(self._few), *self._arrays])
        self._few, self._arrays, self._noted = [], [], 0
        if not len(times):
            return
        scaled = np.log2(np.maximum(times, SMALLEST) / SMALLEST) * self.per_octave
        bins = np.minimum(scaled.astype(np.int64), len(self.counts) - 1)
        self.counts += np.bincount(bins, minlength=len(self.counts))
        self.top[0] = max(self.top[0], times.max())

    @property
    def edges(self) -> Floats:
        """Bin edges in seconds, one more than bins."""
        return SMALLEST * np.exp2(np.arange(len(self.counts) + 1) / self.per_octave)
