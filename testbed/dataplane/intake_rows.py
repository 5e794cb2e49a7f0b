"""The receive buffer of a slow host as its NIC's program has it (intake.bpf.h)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from testbed.clock import WallRate
from testbed.dataplane import wire
from testbed.experiment.topology.receive import Receive


def intake_row(receive: Receive, rate: WallRate, headroom: int) -> NDArray[np.void]:
    """Of a host that takes as much; ``headroom``: bytes beyond xoff."""
    made = np.zeros((), wire.INTAKE)
    made["drain"] = round(rate / 8e9 * (1 << wire.RATE_SHIFT))
    made["xoff"], made["xon"], made["limit"] = receive.xoff, receive.xon, receive.xoff + headroom
    return made
