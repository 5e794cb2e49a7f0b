"""The part of a run that figures are about, and how much a counter grew in it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from testbed.base.arrays import Floats
from testbed.results.record import Measured


class Window(NamedTuple):
    """A span of nominal time, in seconds since the start of the run."""

    start: float
    end: float

    @property
    def length(self) -> float:
        """Seconds; 0 for a run that ended before its warm-up did."""
        return max(self.end - self.start, 0.0)


def window(record: Measured) -> Window:
    """From the end of the warm-up to the end of the run, inside the sampled time.

    RLCC leaves out the first 50 of 200 ms (sheet 8). Trap: a counter has no value outside its samples; taking the
    run's duration instead would count the unsampled tail as idle.
    """
    times = [series.time for series in (record.flow_series, record.port_series) if len(series.time)]
    first = max((float(time[0]) for time in times), default=0.0)
    last = min((float(time[-1]) for time in times), default=0.0)
    return Window(max(record.warmup, first), min(record.duration, last))


def growth(time: Floats, counter: Floats, span: Window) -> Floats:
    """How much each column of a cumulative counter, shape (t, n), grew in the window; shape (n,)."""
    if span.length <= 0 or len(time) == 0:
        return np.full(counter.shape[1], np.nan)
    return at(time, counter, span.end) - at(time, counter, span.start)


def at(time: Floats, counter: Floats, moment: float) -> Floats:
    """Each column of a counter, shape (t, n), at a moment, linear between samples; shape (n,)."""
    right = int(np.clip(np.searchsorted(time, moment), 1, max(len(time) - 1, 1)))
    if right >= len(time):
        return np.asarray(counter[0])
    left = right - 1
    step = time[right] - time[left]
    share = np.clip((moment - time[left]) / step, 0.0, 1.0) if step > 0 else 1.0
    return np.asarray(counter[left] + share * (counter[right] - counter[left]))


def inside(time: Floats, span: Window) -> NDArray[np.bool_]:
    """Which samples lie in the window."""
    return np.asarray((time >= span.start) & (time <= span.end) & (span.length > 0))
