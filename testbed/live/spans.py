"""What the ranks of jobs did since the last look: the timeline of the live page, which grows as the run goes on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Self

import numpy as np

from testbed.agent.columns import Flows
from testbed.base.arrays import Floats, Ints
from testbed.experiment.traffic.plan import Plan
from testbed.experiment.traffic.tasks import Job, Kind
from testbed.results.record import StepTable

MOST_RANKS = 64  # of all jobs: more are no picture
MOST_SPANS = 2000  # per look: the others are told with the next one


class Does(IntEnum):
    """What a rank does from a time to another."""

    COMPUTES = 0
    SENDS = 1  # one of its messages is on its way
    DONE = 2  # with its part of an iteration, at a moment


@dataclass(frozen=True)
class Spans:
    """Columns of shape (s,): a row of the timeline, what is done (`Does`), from when to when, s."""

    row: Ints
    does: Ints
    begin: Floats
    end: Floats

    @classmethod
    def none(cls) -> Self:
        """Nothing new."""
        return cls(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0), np.empty(0))


def rows_of(jobs: Sequence[Job]) -> dict[tuple[str, str], int]:
    """The row of each job's host; none if there are too many."""
    places = dict.fromkeys((job.name, host) for job in jobs for host in job.hosts)
    return {place: row for row, place in enumerate(places)} if len(places) <= MOST_RANKS else {}


class Timeline:
    """Tells every span once, when it is over."""

    def __init__(self, plan: Plan) -> None:
        steps, rows = plan.tasks.steps, rows_of(plan.tasks.jobs)
        row_of_step = np.full(len(steps.kind), -1)
        for number, job in enumerate(plan.tasks.jobs if rows else ()):
            own = steps.job == number
            row_of_step[own] = np.array([rows[job.name, host] for host in job.hosts])[steps.rank[own]]
        shown = (row_of_step >= 0) & (((steps.kind == Kind.COMPUTE) & (steps.length > 0)) | (steps.kind == Kind.DONE))
        self._row_of_step = row_of_step
        self._steps = shown  # those that are not told yet
        places = zip(plan.label, plan.src, strict=True) if rows else ()
        self._row_of_flow = np.array([rows.get(place, -1) for place in places] or np.full(len(plan), -1))
        self._flows = self._row_of_flow >= 0

    def news(self, steps: StepTable, flows: Flows) -> Spans:
        """What was over since the last time; of ``steps`` and ``flows`` only those are known that are."""
        computed = np.flatnonzero(self._steps & np.isfinite(steps.begin))[:MOST_SPANS]
        sent = np.flatnonzero(self._flows & np.isfinite(flows.finished))[:MOST_SPANS]
        self._steps[computed] = self._flows[sent] = False
        does = np.where(steps.kind[computed] == Kind.DONE, Does.DONE, Does.COMPUTES)
        begin = steps.begin[computed]
        return Spans(
            np.concatenate((self._row_of_step[computed], self._row_of_flow[sent])),
            np.concatenate((does, np.full(len(sent), Does.SENDS))),
            np.concatenate((begin, flows.start[sent])),
            np.concatenate((begin + steps.length[computed], flows.finished[sent])),
        )
