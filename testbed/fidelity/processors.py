"""How much the cores of this machine were idle during a run, and how much of their time was stolen."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path

STAT = Path("/proc/stat")
AUTOGROUP = Path("/proc/sys/kernel/sched_autogroup_enabled")
NICE, IDLE, IOWAIT = 1, 3, 4
STEAL = 7  # what the host of a virtual machine gave to others: meanwhile nothing runs here, not even timers
STOLEN = 0.01  # of a core's time is much: as much as a shaper may lose; each time all timers stop for milliseconds
WINDOW_SECONDS = 0.5  # the kernel counts in ticks of a few milliseconds


class Processors:
    """Counts from its creation, on the cores that this process may use."""

    def __init__(self) -> None:
        self.idle: list[float] = []  # per window, the idle share of the busiest core
        # Niced processes give way to a run, so that their time counts as idle; but not those of another session where
        # each session has a share of its own.
        grouped = AUTOGROUP.exists() and AUTOGROUP.read_text().strip() == "1"
        self._free = (IDLE, IOWAIT) if grouped else (NICE, IDLE, IOWAIT)
        self._before = self._began = self._times()
        self._since = time.monotonic()

    def _times(self) -> dict[str, tuple[int, int, int]]:
        """Per core its idle ticks, all ticks, and stolen ticks."""
        usable = {f"cpu{core}" for core in os.sched_getaffinity(0)}
        times = {}
        for line in STAT.read_text().splitlines():
            name, *numbers = line.split()
            if name in usable:
                values = [int(number) for number in numbers]
                times[name] = (sum(values[one] for one in self._free), sum(values[:8]), values[STEAL])
        return times

    def sample(self) -> None:
        """Check whether a window is over; cheap enough for every step of a loop."""
        now = time.monotonic()
        if now - self._since >= WINDOW_SECONDS:
            self.count()
            self._since = now

    def count(self) -> None:
        """A window ends now, however long it was."""
        times, was = self._times(), self._before
        self.idle.append(
            min((idle - was[name][0]) / max(1, total - was[name][1]) for name, (idle, total, _) in times.items())
        )
        self._before = times

    @property
    def stolen(self) -> float:
        """Stolen share of the time until the last window ended, of the core with the most."""
        began = self._began
        return max(
            (stolen - began[name][2]) / max(1, total - began[name][1])
            for name, (_, total, stolen) in self._before.items()
        )

    @property
    def least_idle(self) -> float:
        """So far."""
        return least(self.idle)


def least(idle: Sequence[float]) -> float:
    """Idle share of the busiest core in its busiest window; of 100 windows, in the second busiest.

    Lags are judged by their p99 as well. Otherwise every long run would be degraded by the one half second in which
    another process had a core.
    """
    return sorted(idle)[len(idle) // 100] if idle else 1.0
