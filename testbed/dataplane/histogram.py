"""The bins of the port program's queue histogram: log2 with linear bins inside each octave."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from testbed.dataplane.wire import QUEUE_BINS, QUEUE_SUB_BITS


def edges() -> NDArray[np.float64]:
    """Lower edges of all bins and the upper edge of the last, in bytes; shape (QUEUE_BINS + 1,).

    >>> edges()[:10].astype(int).tolist()
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]
    """
    bins = np.arange(QUEUE_BINS + 1)
    linear = 1 << QUEUE_SUB_BITS
    octave, inside = bins // linear - 1, bins % linear
    return np.where(bins < linear, bins, np.ldexp(linear + inside, np.maximum(octave, 0))).astype(float)
