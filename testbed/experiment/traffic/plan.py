"""From the traffic of an experiment to numbered flows, ordered by sending host."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate
from typing import Self

import numpy as np
from numpy.typing import NDArray

from testbed.base.arrays import Floats, Ints
from testbed.experiment.block import refuse
from testbed.experiment.topology.dscp import USUAL
from testbed.experiment.topology.ecn import ECN_BITS, ECT0
from testbed.experiment.traffic.flow import NO_GROUP, Flow
from testbed.experiment.traffic.tasks import Kind, Steps, Tasks, edges

UNSAID = -1
USUAL_TOS = USUAL << 2 | ECT0


def _nothing() -> Ints:
    return np.empty(0, np.int64)


@dataclass(frozen=True)
class Plan:
    """All flows of a run, shape (n,) per column. Flow numbers are positions."""

    src: list[str]  # host names
    dst: list[str]
    size: Floats  # bytes of payload; inf for an endless flow
    start: Floats  # s; of a flow that waits for others: s after the last of them is done
    label: list[str]
    group: Ints  # number of the flow's group, or -1
    tasks: Tasks = field(default_factory=Tasks)  # who waits for whom
    dscp: Ints = field(default_factory=_nothing)  # of its packets; -1 where nobody has said it
    ecn: Ints = field(default_factory=_nothing)  # the ECN bits of its packets; -1 where nobody has said it
    channel: Ints = field(default_factory=_nothing)  # of a job's operation: each has queue pairs of its own

    def __post_init__(self) -> None:
        for name in ("dscp", "ecn"):
            if not len(getattr(self, name)):
                object.__setattr__(self, name, np.full(len(self.src), UNSAID))
        if not len(self.channel):
            object.__setattr__(self, "channel", np.zeros(len(self.src), np.int64))

    @classmethod
    def of(cls, flows: Sequence[Flow], tasks: Tasks | None = None) -> Self:
        """By host, in the order of the list: an agent serves whole hosts. Flows wait for groups, or by ``tasks``."""
        group = np.array([flow.group for flow in flows], np.int64)
        after = np.array([flow.after for flow in flows], np.int64)
        return cls(
            src=[flow.src for flow in flows],
            dst=[flow.dst for flow in flows],
            size=np.array([flow.size for flow in flows], np.float64),
            start=np.array([flow.start for flow in flows], np.float64),
            label=[flow.label for flow in flows],
            group=group,
            tasks=tasks or _after_groups(group, after),
        ).ordered()

    def __len__(self) -> int:
        return len(self.src)

    @cached_property
    def waits(self) -> NDArray[np.bool_]:
        """Whether a flow waits for something."""
        waiting = np.zeros(len(self), np.bool_)
        waiting[self.tasks.edges[:, 1][self.tasks.edges[:, 1] >= 0]] = True
        return waiting

    @cached_property
    def src_number(self) -> Ints:
        """Number of each flow's sending host."""
        return _numbers(self.src)

    @cached_property
    def dst_number(self) -> Ints:
        """Number of each flow's receiving host."""
        return _numbers(self.dst)

    @cached_property
    def pair(self) -> Ints:
        """Number of the two hosts of each flow, and of the channel between them."""
        between = self.src_number * (int(self.dst_number.max(initial=0)) + 1) + self.dst_number
        of_channel = between * (int(self.channel.max(initial=0)) + 1) + self.channel
        number: Ints = np.unique(of_channel, return_inverse=True)[1]
        return number

    def with_headers(self, dscp: int | None, ecn: str | None, rows: Ints | None = None) -> Self:
        """With a DSCP and with or without ECN; of ``rows``, or of all flows of which nobody has said it."""
        made = {}
        for name, value in (("dscp", dscp), ("ecn", None if ecn is None else ECN_BITS[ecn])):
            if value is None:
                continue
            column = getattr(self, name).copy()
            column[column == UNSAID if rows is None else rows] = value
            made[name] = column
        return replace(self, **made) if made else self

    @property
    def tos(self) -> Ints:
        """The second byte of the flows' IP headers; once everything is said."""
        return self.dscp << 2 | self.ecn

    @property
    def pairs(self) -> set[tuple[str, str]]:
        """Which host talks to which."""
        return set(zip(self.src, self.dst, strict=True))

    @property
    def busiest_receiver(self) -> str:
        """The host that most flows go to: its switch port is the bottleneck."""
        numbers, counts = np.unique(self.dst_number, return_counts=True)
        names = np.array([f"h{number}" for number in numbers])
        first = np.argsort(names, kind="stable")
        return str(names[first][counts[first].argmax()])

    def ordered(self) -> Self:
        """By the number of the sending host."""
        if (np.diff(self.src_number) >= 0).all():
            return self
        return self._picked(np.argsort(self.src_number, kind="stable"))

    def later(self, begin: float) -> Self:
        """The same ``begin`` seconds later."""
        roots = np.ones(len(self.tasks.steps), np.bool_)
        roots[-1 - self.tasks.edges[:, 1][self.tasks.edges[:, 1] < 0]] = False
        steps = replace(self.tasks.steps, start=self.tasks.steps.start + begin * roots)
        jobs = tuple(replace(job, start=job.start + begin) for job in self.tasks.jobs)
        return replace(
            self, start=self.start + np.where(self.waits, 0.0, begin), tasks=replace(self.tasks, steps=steps, jobs=jobs)
        )

    def begun(self, end: float) -> Self:
        """What starts before ``end``, with all that waits for others if anything does."""
        starting = ~self.waits & (self.start < end)
        starts = [*self.start[starting].tolist(), *(job.start for job in self.tasks.jobs if job.start < end)]
        if not starts:
            return replace(self._picked(np.empty(0, np.int64)), tasks=Tasks())
        return self._picked(np.flatnonzero(self.waits | starting))

    def only(self, job: str) -> Self:
        """That job's flows and steps; all if it is none."""
        if not job:
            return self
        number = next((n for n, one in enumerate(self.tasks.jobs) if one.name == job), None)
        if number is None:
            known = ", ".join(one.name for one in self.tasks.jobs)
            refuse("traffic.alone", f"there is no job '{job}'; allowed: {known}")
        picked = self._picked(np.flatnonzero(np.array(self.label) == job))
        tasks = picked.tasks
        kept = np.flatnonzero(tasks.steps.job == number)
        place = np.zeros(len(tasks.steps), np.int64)
        place[kept] = -1 - np.arange(len(kept))
        edges = np.where(tasks.edges < 0, place[-1 - np.minimum(tasks.edges, -1)], tasks.edges)
        own = np.isin(tasks.edges, -1 - kept) | (tasks.edges >= 0)
        steps = replace(tasks.steps.rows(kept), job=np.zeros(len(kept), np.int64))
        return replace(picked, tasks=Tasks(steps, edges[own.all(axis=1)], (tasks.jobs[number],)))

    @classmethod
    def joined(cls, plans: Sequence[Plan]) -> Self:
        """All of them, with groups, steps and jobs numbered through."""
        first = [0, *accumulate(map(len, plans))]
        first_step = [0, *accumulate(len(one.tasks.steps) for one in plans)]
        first_job = [0, *accumulate(len(one.tasks.jobs) for one in plans)]
        first_group = [0, *accumulate(int(one.group.max(initial=NO_GROUP)) + 1 for one in plans)]
        groups = [
            np.where(one.group < 0, one.group, one.group + at) for one, at in zip(plans, first_group, strict=False)
        ]
        shifted = [
            np.where(one.tasks.edges < 0, one.tasks.edges - step, one.tasks.edges + flow)
            for one, flow, step in zip(plans, first, first_step, strict=False)
        ]
        steps = [
            replace(one.tasks.steps, job=np.where(one.tasks.steps.job < 0, -1, one.tasks.steps.job + at))
            for one, at in zip(plans, first_job, strict=False)
        ]
        jobs = tuple(job for one in plans for job in one.tasks.jobs)
        return cls(
            src=[name for one in plans for name in one.src],
            dst=[name for one in plans for name in one.dst],
            size=np.concatenate([one.size for one in plans]),
            start=np.concatenate([one.start for one in plans]),
            label=[label for one in plans for label in one.label],
            group=np.concatenate(groups),
            tasks=Tasks(Steps.joined(steps), np.concatenate(shifted), jobs),
            dscp=np.concatenate([one.dscp for one in plans]),
            ecn=np.concatenate([one.ecn for one in plans]),
            channel=np.concatenate([one.channel for one in plans]),
        ).ordered()

    def _picked(self, rows: Ints) -> Self:
        """These flows in this order; nothing waits for the others."""
        chosen = rows.tolist()
        place = np.full(len(self), -1, np.int64)
        place[rows] = np.arange(len(rows))
        old = self.tasks.edges
        new = np.where(old < 0, old, place[np.maximum(old, 0)] if len(self) else -1)
        kept = (old < 0) | (new >= 0)
        return replace(
            self,
            src=[self.src[i] for i in chosen],
            dst=[self.dst[i] for i in chosen],
            size=self.size[rows],
            start=self.start[rows],
            label=[self.label[i] for i in chosen],
            group=self.group[rows],
            dscp=self.dscp[rows],
            ecn=self.ecn[rows],
            channel=self.channel[rows],
            tasks=replace(self.tasks, edges=new[kept[:, 0] & kept[:, 1]]),
        )


def _numbers(hosts: Sequence[str]) -> Ints:
    known = {name: int(name[1:]) for name in set(hosts)}
    return np.array([known[name] for name in hosts], np.int64)


def _after_groups(group: Ints, after: Ints) -> Tasks:
    """Flows wait for groups: a step per awaited group, which is done when all of its flows are."""
    waiting = np.flatnonzero(after != NO_GROUP)
    if not len(waiting):
        return Tasks()
    awaited = np.unique(after[waiting])
    members = np.flatnonzero(np.isin(group, awaited))
    steps_of_members = -1 - np.searchsorted(awaited, group[members])
    steps_of_waiting = -1 - np.searchsorted(awaited, after[waiting])
    found = [edges(members, steps_of_members), edges(steps_of_waiting, waiting)]
    return Tasks(Steps.of(len(awaited), Kind.JOIN), np.concatenate(found))
