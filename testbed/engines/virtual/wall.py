"""The wall clock that a world keeps pace with (wall.h)."""

from __future__ import annotations

import ctypes
import os
import time

from testbed.agent.histogram import TimeHistogram
from testbed.agent.memory import Memory
from testbed.clock import Clock
from testbed.engines.virtual.clock import EPOCH
from testbed.engines.virtual.structs import CWall
from testbed.engines.virtual.world import NEVER, World

GRAINS_PER_RTT = 32
ALONE = 0.8  # s before the first rest: the kernel's fair server takes its share after 0.95 s (wall.c)


class Wall:
    """Makes a nominal second of a world take ``dilation`` wall seconds. How late events are (s) goes to ``lag``."""

    def __init__(self, world: World, dilation: float, lag: TimeHistogram) -> None:
        clock = Clock(dilation)
        grain = clock.wall_ns(float(world.layout.paths.base_rtt.min(initial=world.layout.longest_rtt)) / GRAINS_PER_RTT)
        self._memory = Memory()  # of what C points into
        tick = world.clock.seconds_per_ns
        self.c = CWall(0, EPOCH, clock.seconds_per_ns / tick, tick, grain, 0, 0, 0, self._memory.histogram(lag))
        self._world = world
        world.keep(self)

    def begin(self) -> int:
        """The world's first tick is now, which is returned (ns, as `time.monotonic_ns`)."""
        alone = os.sched_getscheduler(0) == os.SCHED_FIFO
        self.c.next_rest = EPOCH + round(ALONE * 1e9 * self.c.ticks_per_ns) if alone else NEVER
        self.c.epoch_ns = epoch_ns = time.monotonic_ns()
        self._world.c.wall = ctypes.addressof(self.c)
        return epoch_ns
