"""What two threads save: wall time of one run on one thread and on two, in turns. It needs two idle cores."""

from __future__ import annotations

import time
from collections.abc import Iterator
from multiprocessing.connection import Connection
from statistics import median

from bench.apart import apart
from bench.measure import Row, spread
from bench.scale import CUT, experiment

REPEATS = 5
RACKS = ((1024, 1.0), (4096, 0.2))  # hosts, nominal ms
LEAST = 1.7  # issue 44


def wall(hosts: int, milliseconds: float, threads: int) -> float:
    """Seconds from the first event to the record."""

    def work(connection: Connection) -> float:
        from testbed.engines.virtual.run import VirtualRun

        run = VirtualRun(experiment(hosts, milliseconds, CUT), [], connection, threads=threads)
        began = time.perf_counter()
        run.follow()
        return time.perf_counter() - began

    return apart(work)


def of_threads() -> Iterator[Row]:
    """Large racks: in small ones one thread is what helps."""
    for hosts, milliseconds in RACKS:
        pairs = [(wall(hosts, milliseconds, 1), wall(hosts, milliseconds, 2)) for _ in range(REPEATS)]
        ratios = [one / two for one, two in pairs]
        one, two = (spread(seconds, ".2f") for seconds in zip(*pairs, strict=True))
        yield Row(
            f"one thread / two, {hosts:,} hosts", spread(ratios, ".2f"), f">= {LEAST}", median(ratios) >= LEAST,
            f"{one} s / {two} s of wall time", {"walls": pairs},
        )  # fmt: skip
