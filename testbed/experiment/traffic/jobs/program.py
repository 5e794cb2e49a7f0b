"""A job's flows, steps and what waits for what, put together in columns: no object per message."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from testbed.base.arrays import Floats, Ints
from testbed.experiment.topology.servers import Servers
from testbed.experiment.traffic.flow import NO_GROUP
from testbed.experiment.traffic.plan import Plan
from testbed.experiment.traffic.tasks import Job, Kind, Steps, Tasks, edges, no_edges

Ranks = Ints | NDArray[np.int32]  # of a job: millions of them should not take more


@dataclass(frozen=True)
class Exchange:
    """Messages between ranks, columns of shape (n,), and which of them waits for which."""

    src: Ranks
    dst: Ranks
    size: Floats  # bytes
    waits: Ints  # (m, 2): a message that must have been received, and one that waits for it
    channel: Ints | Literal[0] = 0  # whose queue pairs carry it


class Program:
    """Nodes are numbered as in `Tasks`: messages from 0, steps from -1 down. What stays in a server is a step."""

    def __init__(self, hosts: Sequence[str], servers: Servers | None = None) -> None:
        """``hosts``: of ranks 0, 1, ..."""
        self.ranks, self._servers = len(hosts), servers
        self._server = np.array([servers.of(host) if servers else rank for rank, host in enumerate(hosts)], np.int64)
        self._exchanges: list[Exchange] = []
        self._steps: list[Steps] = []
        self._edges: list[Ints] = []
        self._messages = self._step_count = 0

    def steps(
        self,
        kind: Kind,
        rank: Ranks,
        iteration: int = -1,
        length: Floats | float = 0.0,
        *,
        start: float = 0.0,
        after: Ints | None = None,
    ) -> Ints:
        """A step for each of ``rank``; returns their nodes. Each waits for the node at its place in ``after``."""
        nodes = -1 - np.arange(self._step_count, self._step_count + len(rank))
        self._steps.append(Steps.of(len(rank), kind, length=length, start=start, job=0, iteration=iteration, rank=rank))
        self._step_count += len(rank)
        if after is not None:
            self.wait(after, nodes)
        return nodes

    def wait(self, before: Ints, after: Ints) -> None:
        """Each of ``after`` waits for the node of ``before`` at its place."""
        self._edges.append(edges(before, after))

    def barrier(self, before: Ints, after: Ints) -> None:
        """All of ``after`` wait for all of ``before``."""
        joined = self.steps(Kind.JOIN, np.array([-1]))
        self.wait(before, joined)
        self.wait(joined, after)

    def exchange(self, made: Exchange, after: Ints) -> Ints:
        """Messages, each of which waits for the node at its place; returns their nodes."""
        channel = np.broadcast_to(made.channel, made.src.shape)
        near = self._server[made.src] == self._server[made.dst]
        nodes, far = np.empty(len(made.src), np.int64), np.flatnonzero(~near)
        nodes[far] = np.arange(self._messages, self._messages + len(far))
        self._exchanges.append(Exchange(made.src[far], made.dst[far], made.size[far], no_edges(), channel[far]))
        self._messages += len(far)
        if self._servers and near.any():
            share = int(channel.max()) + 1
            nodes[near] = self.steps(Kind.COPY, made.src[near], length=self._servers.copying(made.size[near], share))
        self.wait(after, nodes)
        self._edges.append(nodes[made.waits])
        return nodes

    def done(self, made: Exchange, messages: Ints, done: Ints) -> None:
        """A rank's node of ``done`` waits for all that it sends and receives."""
        self.wait(messages, done[made.src])
        self.wait(messages, done[made.dst])

    def plan(self, job: Job) -> Plan:
        """On the hosts of the job. Once."""
        hosts, none = job.hosts, np.empty(0)
        src, dst, size = (
            np.concatenate([none, *(getattr(one, name) for one in self._exchanges)]) for name in ("src", "dst", "size")
        )
        steps = Steps.joined(self._steps)
        self._steps.clear()  # a million messages should not be there twice
        waiting = np.concatenate([no_edges(), *self._edges])
        self._edges.clear()
        return Plan(
            src=_named(src, hosts),
            dst=_named(dst, hosts),
            size=size,
            start=np.zeros(len(size)),
            label=[job.name] * len(size),
            group=np.full(len(size), NO_GROUP),
            channel=np.concatenate([np.empty(0, np.int64), *(one.channel for one in self._exchanges)]),
            tasks=Tasks(steps, waiting, (job,)),
        ).ordered()


def _named(ranks: Floats, hosts: Sequence[str]) -> list[str]:
    return [hosts[rank] for rank in ranks.astype(np.int64).tolist()]
