"""What the ports and NICs have written down of pauses, and what it comes to when a run is over."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from testbed.base.arrays import Floats


def paused_ns(notes: NDArray[np.void], now_ns: int) -> Floats:
    """Wall ns for which each interface has been paused until now; ``notes`` have dtype `testbed.dataplane.wire.PAUSE`.

    The two newest pauses may be going on or lie in the future; of all others the kernel has kept the sum.
    """
    begin, end = notes["span"]["from"], np.minimum(notes["span"]["until"], np.uint64(now_ns))
    begun = begin < end
    return np.asarray((notes["paused_ns"] + np.where(begun, end - begin, 0).sum(-1)).astype(float))


def paused_between(notes: NDArray[np.void], since_ns: NDArray[np.int64], until_ns: int) -> NDArray[np.int64]:
    """Wall ns for which each interface was paused from its own moment until a common one, by its two newest pauses."""
    begin = np.maximum(notes["span"]["from"].astype(np.int64), since_ns[:, None])
    end = np.minimum(notes["span"]["until"].astype(np.int64), until_ns)
    return np.asarray(np.maximum(end - begin, 0).sum(-1))


def are_over(notes: NDArray[np.void], now_ns: int) -> NDArray[np.bool_]:
    """Whether no pause of an interface is going on or ahead."""
    return np.asarray((notes["span"]["until"] <= np.uint64(now_ns)).all(-1))
