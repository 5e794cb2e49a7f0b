"""Pause times, from what the port and NIC programs have recorded."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from testbed.base.arrays import Floats, Ints


def paused_ns(records: NDArray[np.void], now_ns: int | Ints) -> Floats:
    """Wall ns for which each interface has been paused until now; ``records`` are `testbed.dataplane.wire.PAUSE`.

    Of records at several moments ``now_ns`` is a column of these. Without a pause it is the same at all moments.

    The two newest pauses may not be over, or lie in the future; of all others the kernel keeps the sum.
    """
    if not records["span"]["until"].any():  # there was none: the rule, and several times quicker
        return np.asarray(records["paused_ns"].astype(float))
    begin, end = records["span"]["from"], np.minimum(records["span"]["until"], _of_spans(now_ns).astype(np.uint64))
    begun = begin < end
    return np.asarray((records["paused_ns"] + np.where(begun, end - begin, 0).sum(-1)).astype(float))


def paused_between(records: NDArray[np.void], since_ns: Ints, until_ns: int | Ints) -> NDArray[np.int64]:
    """Wall ns for which each interface was paused from its own moment until a common one, by its two newest pauses.

    A single 0 if there was none.
    """
    if not records["span"]["until"].any():
        return np.zeros((), np.int64)
    begin = np.maximum(records["span"]["from"].astype(np.int64), since_ns[..., None])
    end = np.minimum(records["span"]["until"].astype(np.int64), _of_spans(until_ns))
    return np.asarray(np.maximum(end - begin, 0).sum(-1))


def _of_spans(moment: int | Ints) -> Ints:
    return np.asarray(moment, np.int64)[..., None]


def are_resumed(records: NDArray[np.void], now_ns: int) -> NDArray[np.bool_]:
    """Whether an interface is not paused and no pause lies ahead."""
    return np.asarray((records["span"]["until"] <= np.uint64(now_ns)).all(-1))
