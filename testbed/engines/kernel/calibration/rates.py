"""The rate at which a link carries packets, on a machine that may stall.

A link's rate shows in every stretch of time in which the machine kept up. A stall makes one stretch slow and says
nothing about the link; stalls during a run have limits of their own.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

STRETCHES = 10  # of the whole: three stalls spoil less than half of them
BLUR = 4  # packets whose times are averaged: a shaper's bucket lets two go at once


def steady_rate(times: NDArray[np.float64], carried: NDArray[np.float64]) -> float:
    """Median over all stretches, a tenth of the whole each, of bytes carried per unit of time; 0 if nothing was.

    ``times`` rise, ``carried`` is what had passed by then in bytes; shape (n,).
    """
    if len(times) < STRETCHES + BLUR:
        return 0.0
    times, carried = (np.convolve(one, np.full(BLUR, 1 / BLUR), "valid") for one in (times, carried))
    ends = np.searchsorted(carried, carried + (carried[-1] - carried[0]) / STRETCHES)
    starts = np.flatnonzero(ends < len(times))
    ends = ends[starts]
    return float(np.median((carried[ends] - carried[starts]) / np.maximum(times[ends] - times[starts], 1.0)))
