"""How much time the cores of this machine had left while a run went on, and how much others took from it."""

from __future__ import annotations

import os
import time
from pathlib import Path

STAT = Path("/proc/stat")
NICE, IDLE, IOWAIT = 1, 3, 4  # what runs niced gives way to a run: its time was left
STEAL = 7  # what the host of a virtual machine gave to others: until then nothing here runs, no timer either
STOLEN = 0.01  # of a core's time is much: as much as a shaper may lose; each theft stops all timers for milliseconds
WINDOW_SECONDS = 0.5  # the kernel counts in ticks of a few milliseconds


class Processors:
    """Counts from when it is made; only the cores that this process may use."""

    def __init__(self) -> None:
        self._idle: list[float] = []  # per window, the share of the time that the busiest core had left
        self._before = self._began = self._times()
        self._since = time.monotonic()

    def _times(self) -> dict[str, tuple[int, int, int]]:
        """Per core the ticks that were left, all, and those that were stolen."""
        usable = {f"cpu{core}" for core in os.sched_getaffinity(0)}
        times = {}
        for line in STAT.read_text().splitlines():
            name, *numbers = line.split()
            if name in usable:
                values = [int(number) for number in numbers]
                times[name] = (values[NICE] + values[IDLE] + values[IOWAIT], sum(values[:8]), values[STEAL])
        return times

    def sample(self) -> None:
        """Look whether a window is over; cheap enough for every step of a loop."""
        now = time.monotonic()
        if now - self._since < WINDOW_SECONDS:
            return
        times = self._times()
        was = self._before
        self._idle.append(
            min((idle - was[name][0]) / max(1, total - was[name][1]) for name, (idle, total, _) in times.items())
        )
        self._before, self._since = times, now

    @property
    def stolen(self) -> float:
        """Share of the time since the beginning that the host took from the core that it took most from."""
        began = self._began
        return max(
            (stolen - began[name][2]) / max(1, total - began[name][1])
            for name, (_, total, stolen) in self._before.items()
        )

    @property
    def least_idle(self) -> float:
        """Share of the time that the busiest core had left in its busiest window: of 100 windows, in the next one.

        Lags are judged by their p99 as well. Without that, the longer a run, the more surely something else of this
        machine has once had a core for half a second.
        """
        return sorted(self._idle)[len(self._idle) // 100] if self._idle else 1.0
