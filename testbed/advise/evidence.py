"""Runs what is asked for on the virtual engine, in forks of this process, each run once: figures of runs.

All candidates meet the same draws: a draw is a seed, and with it the traffic, its starts and the marking's chances are
the same for all, so that differences between candidates are theirs (common random numbers).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from testbed.advise.budget import Spent, in_time
from testbed.advise.objective import NUMBERS
from testbed.advise.unfinished import means
from testbed.advise.workload import Workload
from testbed.engines.virtual.engine import VirtualEngine
from testbed.errors import BadInput, TestbedError
from testbed.experiment.resolved import Resolved
from testbed.fidelity.verdict import judge
from testbed.live.observers import Observer
from testbed.results.record import RunRecord
from testbed.results.summary import Summary, summarise
from testbed.runs.forked import each

Settings = tuple[str, ...]  # KEY=VALUE; nothing is the present configuration


@dataclass(frozen=True)
class Ask:
    """One run: a draw of a workload, with a candidate's settings, under a condition's."""

    workload: str
    draw: int
    candidate: Settings = ()
    condition: Settings = ()


@dataclass(frozen=True)
class Found:
    """Its figures, SI; without any, ``why`` says so. ``doubts``: for what its verdict is `degraded`."""

    figures: Mapping[str, float] = field(default_factory=dict)
    why: str = ""
    doubts: frozenset[str] = frozenset()


Carry = Callable[[Iterable[Ask]], Iterable[Found]]  # what runs them, in order, and takes each when it can begin


@dataclass
class Evidence:
    """What was found so far; a run that was made is not made again, and none begins after `until`."""

    carry: Carry
    until: float | None = None
    found: dict[Ask, Found] = field(default_factory=dict)
    seconds: float = 0.0  # of wall time, that runs took
    timed: int = 0  # those: not the first, which loads what all need

    def of(self, asks: Sequence[Ask]) -> list[Found]:
        """All of them, in order. Raises TestbedError, or Spent, which leaves what had begun."""
        new = [one for one in dict.fromkeys(asks) if one not in self.found]
        began, first = time.monotonic(), not self.found
        found = list(self.carry(in_time(new, self.until)))
        self.found.update(zip(new, found, strict=False))
        if not first:
            self.seconds += time.monotonic() - began
            self.timed += len(found)
        if len(found) < len(new):
            raise Spent
        return [self.found[one] for one in asks]

    @property
    def run(self) -> float:
        """Seconds of wall time that one takes, of several at the same time; before there are any, a guess."""
        return self.seconds / self.timed if self.timed else 1.0

    @property
    def runs(self) -> int:
        """How many were made."""
        return len(self.found)


def virtual(workloads: Sequence[Workload], jobs: int) -> Carry:
    """On the virtual engine, so many at the same time."""
    by_name = {one.name: one for one in workloads}

    def carry(asks: Iterable[Ask]) -> Iterable[Found]:
        return each((partial(_run, by_name[one.workload], one) for one in asks), jobs)

    return carry


def _run(workload: Workload, ask: Ask) -> Found:
    try:
        record, summary = run(workload.resolved(ask.draw, (*ask.condition, *ask.candidate)))
    except TestbedError as error:
        return Found(why=str(error))
    if record.interrupted or record.broken:
        return Found(why=record.interrupted or "; ".join(map(str, record.broken)))
    doubts = frozenset(one.what for one in summary.verdict.reasons)
    return Found({name: float(getattr(summary, name)) for name in NUMBERS} | means(record, summary), doubts=doubts)


def run(resolved: Resolved) -> tuple[RunRecord, Summary]:
    """One run and its figures; nothing is written. Raises TestbedError."""
    engine, observer = VirtualEngine(), Observer()
    engine.check(resolved)
    record = engine.follow(engine.prepare(resolved, observer), observer, [], resolved.experiment.name, [])
    return record, summarise(record, judge(record), experiment=resolved.experiment.name, controller=resolved.title)


def must(found: Sequence[Found], what: str) -> list[Mapping[str, float]]:
    """The figures of runs without which nothing can be said. Raises BadInput."""
    for one in found:
        if one.why:
            raise BadInput(f"{what}: {one.why}")
    return [one.figures for one in found]
