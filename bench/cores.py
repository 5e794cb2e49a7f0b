"""What more cores than there are here would do: a model of the virtual engine's windows, held against two threads.

One thread goes on with all parts of a rack, and what each takes in each window is kept. Threads would take as long as
the one whose parts take longest, shared out as balance.h does, window after window; then they meet.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from math import log2
from multiprocessing.connection import Connection
from statistics import median
from typing import Any

import numpy as np

from bench.apart import apart
from bench.measure import Row, spread
from bench.scale import CUT, experiment, timed
from testbed.base.arrays import Floats, Ints
from testbed.engines.virtual.whole import useful_parts

RACKS = ((1024, 0.5), (4096, 0.15), (8192, 0.1))  # hosts, nominal ms
THREADS = (2, 4, 8, 16, 32, 64)
REPEATS = 3
ROOM = 20_000  # windows
LOOKS = 8  # windows between two looks at who has most: balance.h


@dataclass(frozen=True)
class Watched:
    """The loop of a run on so many threads, of a rack in so many parts: seconds of wall time."""

    wall: float
    loads: Any  # `LOAD`, (windows, parts)

    @property
    def seconds(self) -> Floats:
        """By window and part."""
        seconds: Floats = self.loads["seconds"]
        return seconds

    @property
    def windows(self) -> int:
        """How many there were."""
        return len(self.loads)

    @property
    def apart(self) -> float:
        """What is not of the thread that took longest: samples, what opens a window, and meeting."""
        each = (
            np.where(self.loads["thread"] == one, self.seconds, 0.0).sum(axis=1)
            for one in np.unique(self.loads["thread"])
        )
        return self.wall - float(np.max(list(each), axis=0).sum())


def watched(hosts: int, milliseconds: float, threads: int, parts: int) -> Watched:
    """In a process of its own."""

    def work(connection: Connection) -> Watched:
        from testbed.engines.virtual.parts import DividedDecisions, Parts
        from testbed.engines.virtual.run import VirtualRun

        run: Any = VirtualRun(experiment(hosts, milliseconds, CUT), [], connection, threads=threads)
        run._part_count = parts  # more than one thread would have
        going = timed(DividedDecisions, "serve", time.perf_counter)
        ending = timed(Parts, "drain", time.perf_counter)
        run._divide()
        loads = run.parts.watch(ROOM)
        run.follow()
        return Watched(sum(going + ending), loads[loads["seconds"].any(axis=1)])

    return apart(work)


def longest(one: Watched, threads: int) -> Floats:
    """Of each window, s: what the thread with most to do takes."""
    windows, parts = one.seconds.shape
    owner = np.arange(parts) * threads // parts
    most = np.zeros(windows)
    for window in range(windows):
        most[window] = np.bincount(owner, one.seconds[window], threads).max()
        if (window + 1) % LOOKS == 0:
            share(owner, one.loads["events"][window + 1 - LOOKS : window + 1].sum(axis=0), threads)
    return most


def share(owner: Ints, load: Ints, threads: int) -> None:
    """The thread with most gives the one with least the part that is nearest to half of the difference."""
    each = np.bincount(owner, load, threads)
    giver, taker = int(each.argmax()), int(each.argmin())
    more = each[giver] - each[taker]
    own = np.flatnonzero((owner == giver) & (load > 0) & (load < more))
    if len(own):
        owner[own[np.abs(2 * load[own] - more).argmin()]] = taker


def modelled(one: Watched, threads: int, meeting: float) -> float:
    """Seconds of wall time; ``meeting``: what two threads take to meet, s. More meet in rounds of two."""
    return one.apart + float(longest(one, threads).sum()) + one.windows * meeting * log2(threads)


def of_cores() -> Iterator[Row]:
    """By rack: what a meeting takes and how near the model is, both of two threads; then more of them."""
    for hosts, milliseconds in RACKS:
        resolved = experiment(hosts, milliseconds, CUT)
        parts = useful_parts(resolved, 2)
        pairs = [[watched(hosts, milliseconds, threads, parts) for threads in (1, 2)] for _ in range(REPEATS)]
        one = min((alone for alone, _ in pairs), key=lambda run: run.wall)
        meeting = max(min((b.apart - a.apart) / b.windows for a, b in pairs), 0.0)
        events = one.loads["events"].sum()
        crossed = one.loads["crossed"].sum() / events
        yield Row(
            f"{hosts:,} hosts, one thread / two", spread([a.wall / b.wall for a, b in pairs], ".2f"), "", None,
            f"model {spread([a.wall / modelled(a, 2, meeting) for a, _ in pairs], '.2f')}; {one.windows:,} windows of "
            f"{events / one.windows:,.0f} events in {parts} parts, {crossed:.0%} of the events cross a cut; "
            f"a meeting takes {1e6 * meeting:.1f} us",
            {"walls": [(a.wall, b.wall) for a, b in pairs]},
        )  # fmt: skip
        runs = {parts: one}
        for threads in THREADS:
            if (count := useful_parts(resolved, threads)) not in runs:
                again = (watched(hosts, milliseconds, 1, count) for _ in range(REPEATS))
                runs[count] = min(again, key=lambda run: run.wall)
            run = runs[count]
            most = longest(run, threads)
            yield Row(
                f"{hosts:,} hosts, model of {threads} threads", f"{one.wall / modelled(run, threads, meeting):.1f}", "",
                None, f"{count} parts; the longest has {most.sum() / run.seconds.sum():.1%} of a window's work, "
                f"{1e6 * median(most):.0f} us (median); {run.apart / run.wall:.1%} is nobody's",
            )  # fmt: skip
