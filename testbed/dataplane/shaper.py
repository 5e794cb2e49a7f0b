"""The shaper below a port's queue: a token bucket that serialises at the port's rate.

It holds two frames: enough to make up for a late timer, little enough that a packet finds the queue that the model
says. A token bucket lets a packet start at once when its bucket is full; a wire would have taken the packet's own
serialisation time. That constant belongs to the path's delay (see `testbed.experiment.topology.paths`).
"""

from __future__ import annotations

from typing import Any

BURST_FRAMES = 2
BURST_SECONDS = 150e-6  # fast links: agents wake up every 100 us, and what they send then should pass in one go
HANDLE = "1:"
HEADROOM = 1 << 20  # bytes that a shaper holds beyond the model's buffer: only the model may drop


def burst(rate: float, frame: int) -> int:
    """Bytes that a shaper's bucket holds."""
    return max(BURST_FRAMES * frame, round(rate / 8 * BURST_SECONDS))


def shape(netlink: Any, index: int, rate: float, frame: int, limit: int) -> None:
    """Have an interface serialise at ``rate`` bit/s (wall), and hold up to ``limit`` bytes."""
    netlink.tc("add", "tbf", index, handle=HANDLE, rate=round(rate / 8), burst=burst(rate, frame), limit=limit)
