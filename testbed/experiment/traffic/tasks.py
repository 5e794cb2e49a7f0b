"""What waits for what: the graph of a run's flows and of the steps between them, such as the computing of a rank.

A flow starts, and a step begins, when all that it waits for is done: a flow when its receiver has all of it, a step
when its time is over.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from enum import IntEnum
from functools import cache
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from testbed.base.arrays import Floats, Ints
from testbed.base.extras import missing

MANY = 50_000  # edges, for which it is worth while to compile


class Kind(IntEnum):
    """What a step is."""

    JOIN = 0  # several become one
    COMPUTE = 1  # a rank computes
    DONE = 2  # a rank has done its part of an iteration
    COPY = 3  # a message inside a server, to another of its GPUs


@dataclass(frozen=True)
class Job:
    """What ranks do together, iteration after iteration."""

    name: str
    kind: str  # the traffic pattern
    hosts: tuple[str, ...]  # of the ranks, rank 0 first
    iterations: int
    start: float  # s
    size: float = float("nan")  # bytes of an operation as nccl-tests counts them; nan for what is none
    bus: float = float("nan")  # bus bandwidth / algorithm bandwidth, as nccl-tests defines it


@dataclass(frozen=True)
class Steps:
    """Columns of shape (s,)."""

    start: Floats  # s, when it begins if it waits for nothing
    length: Floats  # s
    kind: Ints  # of `Kind`
    job: Ints  # position in the jobs, -1 for none
    iteration: Ints
    rank: Ints  # -1 for none

    @classmethod
    def of(
        cls,
        n: int,
        kind: Kind,
        *,
        length: Floats | float = 0.0,
        start: float = 0.0,
        job: int = -1,
        iteration: Ints | int = -1,
        rank: Ints | NDArray[np.int32] | int = -1,
    ) -> Self:
        """``n`` steps of a kind, with columns or one value for all."""
        return cls(
            np.full(n, start, np.float64),
            np.full(n, length, np.float64),
            *(np.full(n, value, np.int64) for value in (kind, job, iteration, rank)),
        )

    def __len__(self) -> int:
        return len(self.start)

    def rows(self, chosen: Ints) -> Self:
        """Some of them."""
        return type(self)(*(getattr(self, column.name)[chosen] for column in fields(self)))

    @classmethod
    def joined(cls, parts: Sequence[Steps]) -> Self:
        """One after the other."""
        return cls(*(np.concatenate([getattr(one, column.name) for one in parts]) for column in fields(cls)))


def no_edges() -> Ints:
    """Nothing waits."""
    return np.empty((0, 2), np.int64)


@dataclass(frozen=True)
class Tasks:
    """The graph. Flow i is node i, step i is node -1 - i."""

    steps: Steps = field(default_factory=lambda: Steps.of(0, Kind.JOIN))
    edges: Ints = field(default_factory=no_edges)  # (m, 2): a node, and one that waits for it
    jobs: tuple[Job, ...] = ()

    def numbered(self, flows: int) -> Ints:
        """The edges with steps numbered behind ``flows`` flows."""
        return np.where(self.edges < 0, flows - 1 - self.edges, self.edges)


def edges(before: Ints | int, after: Ints | int) -> Ints:
    """Each of ``after`` waits for the one of ``before`` at its place, or all for the one."""
    return np.stack(np.broadcast_arrays(np.atleast_1d(before), np.atleast_1d(after)), axis=1).astype(np.int64)


def circle_of(nodes: int, graph: Ints) -> list[int]:
    """Nodes 0 .. nodes - 1 that wait for each other, in the order of waiting, the first one again at the end; none if
    all can start. ``graph``: (m, 2), a node and one that waits for it.
    """
    waits = np.ones(nodes, bool)
    waits[Order.of(nodes, graph).nodes] = False
    stuck = np.flatnonzero(waits)
    if not len(stuck):
        return []
    awaited = {after: before for before, after in graph[waits[graph[:, 0]]].tolist()}  # one that each waits for
    path, seen = [int(stuck[0])], {int(stuck[0]): 0}
    while (node := awaited[path[-1]]) not in seen:
        seen[node] = len(path)
        path.append(node)
    return [*path[seen[node] :], node]


class Order(NamedTuple):
    """Nodes that can start, each behind all that it waits for.

    Those that wait for node i are ``following[first[i] : first[i + 1]]``.
    """

    nodes: Ints
    first: Ints
    following: Ints

    @classmethod
    def of(cls, nodes: int, graph: Ints) -> Order:
        """Of nodes 0 .. nodes - 1; ``graph``: (m, 2), a node and one that waits for it."""
        by_node = np.argsort(graph[:, 0], kind="stable")
        first = np.searchsorted(graph[by_node, 0], np.arange(nodes + 1))
        following = np.ascontiguousarray(graph[by_node, 1])
        missing, order = np.bincount(graph[:, 1], minlength=nodes), np.zeros(nodes, np.int64)
        started = quick(_start_all, graph)(first, following, missing, np.zeros(nodes, np.int64), order)
        return cls(order[:started], first, following)


def levels(nodes: int, graph: Ints) -> Ints:
    """How many nodes are on the longest way to each, shape (nodes,); ``graph`` as in `Order.of`, without a circle."""
    order, found = Order.of(nodes, graph), np.zeros(nodes, np.int64)
    quick(_raise, graph)(order.nodes, order.first, order.following, found)
    return found


def _raise(nodes: Ints, first: Ints, following: Ints, level: Ints) -> None:
    for node in nodes:
        for at in range(first[node], first[node + 1]):
            level[following[at]] = max(level[following[at]], level[node] + 1)


def quick(loop: Callable[..., Any], graph: Ints) -> Callable[..., Any]:
    """The loop over a graph, compiled where it has many edges and numba is installed."""
    return _compiled(loop) if len(graph) > MANY and not missing("numba") else loop


@cache
def _compiled(loop: Callable[..., Any]) -> Callable[..., Any]:
    import numba  # which takes long to import

    compiled: Callable[..., Any] = numba.njit(loop)
    return compiled


def _start_all(first: Ints, following: Ints, missing: Ints, free: Ints, order: Ints) -> int:
    """Start what waits for nothing, and then what waited for that; returns how many could start, in ``order``."""
    count = started = 0
    for node in range(len(missing)):
        if missing[node] == 0:
            free[count] = node
            count += 1
    while count:
        count -= 1
        node = free[count]
        order[started] = node
        started += 1
        for at in range(first[node], first[node + 1]):
            other = following[at]
            missing[other] -= 1
            if missing[other] == 0:
                free[count] = other
                count += 1
    return started
