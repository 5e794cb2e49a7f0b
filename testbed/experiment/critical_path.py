"""The longest way through what waits for what: how long jobs take if every message has the rack to itself."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from testbed.base.arrays import Floats, Ints
from testbed.experiment.layout import Layout
from testbed.experiment.traffic.tasks import Kind, Order, quick
from testbed.units import rounded, show_size, show_time

SHOWN = 6  # parts at either end


@dataclass(frozen=True)
class CriticalPath:
    """Of a run."""

    total: float  # s
    computing: float  # s of it
    parts: tuple[str, ...]  # computing and messages, in their order
    messages: int

    def __str__(self) -> str:
        ends = self.parts if len(self.parts) <= 2 * SHOWN else (*self.parts[:SHOWN], "...", *self.parts[-SHOWN:])
        return (
            f"critical path {show_time(float(f'{self.total:.4g}'))} if every message had the rack to itself: "
            f"{show_time(float(f'{self.computing:.4g}'))} of computing, {self.messages} messages\n" + " > ".join(ends)
        )


def critical_path(layout: Layout) -> CriticalPath | None:
    """None where nothing waits. A message takes until its receiver has its last byte, at line rate."""
    plan, steps = layout.plan, layout.plan.tasks.steps
    if not len(plan.tasks.edges):
        return None
    framing, paths = layout.framing, layout.paths
    finite = np.where(np.isfinite(plan.size), plan.size, 0.0)
    wire = finite + np.ceil(finite / framing.payload) * (framing.wire_size - framing.payload)
    more, less = np.maximum(wire - framing.wire_size, 0), np.maximum(framing.wire_size - wire, 0)  # than a full packet
    slowest = np.minimum(paths.line_rate, paths.path_rate)
    message = paths.one_way + 8 * (more / slowest - less * (1 / paths.line_rate + paths.slowness))
    length = np.concatenate((message, steps.length))
    begin = np.concatenate((plan.start, steps.start))
    graph = plan.tasks.numbered(len(plan))
    end, before = _longest(graph, begin, length)
    node, way = int(end.argmax()), []
    while node >= 0:
        way.append(node)
        node = int(before[node])
    told, computing, messages = [], 0.0, 0
    for one in reversed(way):
        if one < len(plan):
            messages += 1
            size, took = show_size(rounded(plan.size[one])), show_time(rounded(message[one], 3))
            told.append(f"{plan.src[one]}-{plan.dst[one]} {size} {took}")
        elif steps.kind[one - len(plan)] == Kind.COMPUTE and length[one] > 0:
            computing += float(length[one])
            job, rank = plan.tasks.jobs[steps.job[one - len(plan)]], steps.rank[one - len(plan)]
            told.append(f"{job.hosts[rank]} computes {show_time(float(f'{length[one]:.4g}'))}")
        elif steps.kind[one - len(plan)] == Kind.COPY:
            job, rank = plan.tasks.jobs[steps.job[one - len(plan)]], steps.rank[one - len(plan)]
            told.append(f"{job.hosts[rank]} copies {show_time(float(f'{length[one]:.4g}'))}")
    return CriticalPath(float(end.max()), computing, tuple(told), messages)


def _longest(graph: Ints, begin: Floats, length: Floats) -> tuple[Floats, Ints]:
    """When each node is over at the earliest, and which of what it waits for is over last; -1 if it waits for none."""
    order = Order.of(len(length), graph)
    waits = np.bincount(graph[:, 1], minlength=len(length)) > 0
    own = begin + length  # what waits begins so long after the last that it waits for
    end = np.where(waits, 0.0, own)
    before = np.full(len(length), -1)
    quick(_walk, graph)(*order, own, end, before)
    return end, before


def _walk(  # noqa: PLR0917 - numba's functions take no keywords
    nodes: Ints, first: Ints, following: Ints, own: Floats, end: Floats, before: Ints
) -> None:
    """In an order in which everything comes behind what it waits for."""
    for node in nodes:
        for at in range(first[node], first[node + 1]):
            other = following[at]
            if before[other] < 0 or end[node] + own[other] > end[other]:
                end[other] = end[node] + own[other]
                before[other] = node
