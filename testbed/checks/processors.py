"""How much time the cores of this machine had left while a run went on."""

from __future__ import annotations

import os
from pathlib import Path

STAT = Path("/proc/stat")
IDLE, IOWAIT = 3, 4


class Processors:
    """Counts from when it is made; only the cores that this process may use."""

    def __init__(self) -> None:
        self._before = self._times()

    def _times(self) -> dict[str, tuple[int, int]]:
        usable = {f"cpu{core}" for core in os.sched_getaffinity(0)}
        times = {}
        for line in STAT.read_text().splitlines():
            name, *numbers = line.split()
            if name in usable:
                values = [int(number) for number in numbers]
                times[name] = (values[IDLE] + values[IOWAIT], sum(values[:8]))
        return times

    def idle(self) -> float:
        """The smallest idle share of the cores since then."""
        shares = []
        for name, (idle, total) in self._times().items():
            idle_before, total_before = self._before[name]
            shares.append((idle - idle_before) / max(1, total - total_before))
        return min(shares, default=1.0)
