"""Whether interfaces are paused, from what the port and NIC programs have recorded."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def are_resumed(records: NDArray[np.void], now_ns: int) -> NDArray[np.bool_]:
    """Whether an interface is not paused and no pause lies ahead; ``records`` are `testbed.dataplane.wire.PAUSE`."""
    return np.asarray((records["span"]["until"] <= np.uint64(now_ns)).all(-1))
