"""How much time the cores of this machine had left while a run went on."""

from __future__ import annotations

import os
import time
from pathlib import Path

STAT = Path("/proc/stat")
NICE, IDLE, IOWAIT = 1, 3, 4  # what runs niced gives way to a run: its time was left
WINDOW_SECONDS = 0.5  # the kernel counts in ticks of a few milliseconds


class Processors:
    """Counts from when it is made; only the cores that this process may use."""

    def __init__(self) -> None:
        self.least_idle = 1.0  # share of the time that the busiest core had left in its busiest window
        self._before = self._times()
        self._since = time.monotonic()

    def _times(self) -> dict[str, tuple[int, int]]:
        usable = {f"cpu{core}" for core in os.sched_getaffinity(0)}
        times = {}
        for line in STAT.read_text().splitlines():
            name, *numbers = line.split()
            if name in usable:
                values = [int(number) for number in numbers]
                times[name] = (values[NICE] + values[IDLE] + values[IOWAIT], sum(values[:8]))
        return times

    def sample(self) -> None:
        """Look whether a window is over; cheap enough for every turn of a loop."""
        now = time.monotonic()
        if now - self._since < WINDOW_SECONDS:
            return
        times = self._times()
        for name, (idle, total) in times.items():
            idle_before, total_before = self._before[name]
            self.least_idle = min(self.least_idle, (idle - idle_before) / max(1, total - total_before))
        self._before, self._since = times, now
