"""The shaper below a port's queue: a token bucket that serialises at the port's rate.

Its bucket is two frames deep: enough to make up for a late timer, little enough that a packet finds the queue of the
model. A token bucket sends a packet at once when its bucket is full; a wire would have taken the packet's own
serialisation time. That constant belongs to the path's delay (see `testbed.experiment.topology.paths`).
"""

from __future__ import annotations

from typing import Any

from testbed.clock import WallRate

BURST_FRAMES = 2
BURST_SECONDS = 150e-6  # fast links: agents wake up every 100 us, and what they send then should pass in one go
HANDLE = "1:"
HEADROOM = 1 << 20  # bytes that a shaper queues beyond the model's buffer: only the model may drop


def burst(rate: WallRate, frame: int) -> int:
    """Size of a shaper's bucket in bytes."""
    return max(BURST_FRAMES * frame, round(rate / 8 * BURST_SECONDS))


def shape(netlink: Any, index: int, rate: WallRate, frame: int, limit: int, *, how: str = "add") -> None:
    """Have an interface serialise at ``rate`` bit/s, and queue up to ``limit`` bytes."""
    netlink.tc(how, "tbf", index, handle=HANDLE, rate=round(rate / 8), burst=burst(rate, frame), limit=limit)
