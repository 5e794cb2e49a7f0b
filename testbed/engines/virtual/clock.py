"""Virtual time: one tick is a picosecond. For the programs it is a nanosecond, as if time were dilated 1000 times."""

from __future__ import annotations

from collections.abc import Callable

from testbed.clock import Clock

TICKS_PER_NS = 1000
EPOCH = 10**12  # ticks: nominal time 0. Not 0, which programs take for never


def virtual_clock(read: Callable[[], int]) -> Clock:
    """A clock that shows what ``read`` does (ticks)."""
    return Clock(float(TICKS_PER_NS), EPOCH, read)
