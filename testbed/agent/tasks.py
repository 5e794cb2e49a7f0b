"""The graph of who waits for whom, in memory that all agents share (tasks.h).

Waiting flows are released by whoever sees the last of what they wait for; an agent that sleeps is woken.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from testbed.agent.structs import CTasks
from testbed.base.arrays import Floats, Ints
from testbed.base.shared import Shared
from testbed.experiment.traffic.plan import Plan
from testbed.results.record import Measured, StepTable

NOBODY = -1
Parts = Sequence[tuple[int, int]]


class TaskGraph:
    """Made before the agents are forked."""

    def __init__(self, plan: Plan, payload: int, one_way: Floats, parts: Parts, *, wake: bool) -> None:
        """Agent i serves flows ``parts[i]``, [first, end); ``wake`` it if it is a process of its own. ``one_way``: of a
        full packet of each flow, s.
        """
        n, steps, graph = len(plan), plan.tasks.steps, plan.tasks.numbered(len(plan))
        nodes = n + len(steps)
        order = np.argsort(graph[:, 0], kind="stable")
        self._keep: list[NDArray[Any]] = []  # what C points to must live as long as this
        self.c = c = CTasks(flows=n)
        self._point("first", np.searchsorted(graph[order, 0], np.arange(nodes + 1)))
        self._point("next", graph[order, 1])
        self._missing = self._point("missing", self._shared(np.bincount(graph[:, 1], minlength=nodes)))
        self.ready: Floats = Shared.floats(nodes)
        self.ready[n:] = steps.start
        self._point("ready", self.ready)
        self._point("length", np.concatenate((plan.start, steps.length)))
        self._point("link", Shared.ints(nodes))
        packets = np.where(np.isfinite(plan.size), np.ceil(plan.size / payload), 0)  # an endless flow is never done
        self._point("packets", packets.astype(np.int64))
        self._point("one_way", one_way)
        self._point("received", Shared.ints(n))
        self._point("done", Shared.ints(n))
        self._point("agent", np.repeat(np.arange(len(parts)), [end - first for first, end in parts]))
        self._point("released", self._shared(np.full(n, NOBODY)))
        self._point("first_flow", np.array([first for first, _ in parts], np.int64))
        self._point("wake", np.array([os.eventfd(0, os.EFD_NONBLOCK) if wake else NOBODY for _ in parts], np.int64))
        self._point("count", Shared.ints(len(parts)))
        self.pointer = ctypes.addressof(c)
        self.flows = n

    @classmethod
    def of(cls, plan: Plan, payload: int, one_way: Floats, parts: Parts, *, wake: bool) -> Self | None:
        """None where nothing waits."""
        return cls(plan, payload, one_way, parts, wake=wake) if len(plan.tasks.edges) else None

    @staticmethod
    def _shared(values: Ints) -> Ints:
        column = Shared.ints(len(values))
        column[:] = values
        return column

    def _point(self, name: str, column: NDArray[Any]) -> NDArray[Any]:
        column = np.ascontiguousarray(column)
        assert column.dtype.itemsize == 8
        self._keep.append(column)
        setattr(self.c, name, column.ctypes.data)
        return column

    def begin(self, code: ctypes.CDLL) -> None:
        """What waits for nothing begins at its time. Once, before any agent does."""
        steps = self.flows + np.flatnonzero(self._missing[self.flows :] == 0)
        code.begin_tasks(self.pointer, steps.ctypes.data, len(steps))

    def tell(self, record: Measured, plan: Plan) -> None:
        """What became of the jobs."""
        record.jobs = list(plan.tasks.jobs)
        record.steps = StepTable.of(plan.tasks.steps, self.begun(), record.duration)

    def begun(self) -> Floats:
        """When each step began, s; nan if it has not."""
        steps = slice(self.flows, None)
        return np.where(self._missing[steps] == 0, self.ready[steps], np.nan)
