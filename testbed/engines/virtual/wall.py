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
UNSEEN = 0.05  # wall s by which a world without apps may be ahead: a page is told of it five times a second


class Wall:
    """Makes a nominal second of a world take ``dilation`` wall seconds. How late events are (s) goes to ``lag``.

    ``lookahead``: by how much (s) events may be early, None where no app would notice.
    """

    def __init__(self, world: World, dilation: float, lag: TimeHistogram, lookahead: float | None = None) -> None:
        clock, rtt = Clock(dilation), float(world.layout.paths.base_rtt.min(initial=world.layout.longest_rtt))
        if lookahead is None:
            ahead, grain = UNSEEN / dilation, UNSEEN / dilation / 2  # longer sleeps are fewer
        else:  # what enters late leaves late where hosts' lines can be paused
            ahead, grain = 0.0 if world.c.lossless or world.c.queued else lookahead, rtt / GRAINS_PER_RTT
        self._apps = lookahead is not None
        self._memory = Memory()  # of what C points into
        tick = world.clock.seconds_per_ns
        self.c = CWall(
            0, EPOCH, clock.seconds_per_ns / tick, tick, round(ahead / tick), clock.wall_ns(grain), 0, 0, 0,
            self._memory.histogram(lag),
        )  # fmt: skip
        self._world = world
        world.keep(self)

    def begin(self) -> int:
        """The world's first tick is now, which is returned (ns, as `time.monotonic_ns`)."""
        rests = self._apps and os.sched_getscheduler(0) == os.SCHED_FIFO
        self.c.next_rest = EPOCH if rests else NEVER
        self.c.epoch_ns = epoch_ns = time.monotonic_ns()
        self._world.c.wall = ctypes.addressof(self.c)
        return epoch_ns

    def end(self) -> None:
        """Wait until wall time has come to what the world has done."""
        ahead = (self._world.c.now - EPOCH) / self.c.ticks_per_ns - (time.monotonic_ns() - self.c.epoch_ns)
        time.sleep(max(0.0, ahead * 1e-9))
