"""Jobs that a file lists operation by operation: computing, sending, receiving, and what waits for what."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from testbed.base.arrays import Floats, Ints
from testbed.experiment.topology.servers import Servers
from testbed.experiment.traffic.jobs.program import Exchange, Program
from testbed.experiment.traffic.plan import Plan
from testbed.experiment.traffic.tasks import Job, Kind, circle_of, levels


class What(IntEnum):
    """What an operation does."""

    CALC = 0
    SEND = 1
    RECV = 2


@dataclass(frozen=True)
class Listed:
    """The operations of all ranks, columns of shape (n,). Raises ValueError where they cannot be carried out."""

    ranks: int
    what: NDArray[np.int8]
    rank: NDArray[np.int32]
    peer: NDArray[np.int32]  # rank; -1 for computing
    tag: Ints
    size: Floats  # bytes of a message
    length: Floats  # s of computing
    waits: Ints  # (m, 2): an operation, and one that begins when it is over
    follows: Ints  # (m, 2): an operation, and one that begins when it begins, or later
    cpu: Ints  # of a rank, that computes; -1 for who does not wait for it
    where: Callable[[int], str]  # where the file has an operation

    def check(self) -> Ints:
        """The receive of each send, in the order of `sends`. Raises ValueError."""
        far = np.flatnonzero((self.what != What.CALC) & ((self.peer >= self.ranks) | (self.peer < 0)))
        if len(far):
            raise ValueError(
                f"{self.where(far[0])}: there is no rank {self.peer[far[0]]}; allowed: 0 to {self.ranks - 1}"
            )
        own = np.flatnonzero((self.what != What.CALC) & (self.peer == self.rank))
        if len(own):
            raise ValueError(f"{self.where(own[0])}: a rank cannot send to itself")
        received = self._matched()
        if circle := circle_of(len(self.what), np.concatenate((self.waits, self.follows, self._messages(received)))):
            shown = " > ".join(self.where(one) for one in circle[:6])
            raise ValueError(f"operations wait for each other: {shown}{' > ...' if len(circle) > 6 else ''}")
        return received

    @property
    def sends(self) -> Ints:
        """Their numbers."""
        return np.flatnonzero(self.what == What.SEND)

    def _messages(self, received: Ints) -> Ints:
        return np.stack((self.sends, received), axis=1)

    def _matched(self) -> Ints:
        """Messages of one tag between two ranks are received in the order of the file."""
        sends, recvs = self.sends, np.flatnonzero(self.what == What.RECV)
        sent = np.lexsort((sends, self.tag[sends], self.peer[sends], self.rank[sends]))
        got = np.lexsort((recvs, self.tag[recvs], self.rank[recvs], self.peer[recvs]))
        sends_sorted, recvs_sorted = sends[sent], recvs[got]
        a = np.stack((self.rank[sends_sorted], self.peer[sends_sorted], self.tag[sends_sorted]), axis=1)
        b = np.stack((self.peer[recvs_sorted], self.rank[recvs_sorted], self.tag[recvs_sorted]), axis=1)
        both = min(len(a), len(b))
        different = np.flatnonzero((a[:both] != b[:both]).any(axis=1))
        at = int(different[0]) if len(different) else both
        if at < max(len(a), len(b)):
            if at >= len(b) or (at < len(a) and tuple(a[at]) < tuple(b[at])):
                (src, dst, tag), one = a[at], sends_sorted[at]
                missing = f"nobody receives this message: rank {dst} has no receive from rank {src} with tag {tag} left"
            else:
                (src, dst, tag), one = b[at], recvs_sorted[at]
                missing = f"nobody sends this message: rank {src} has no send to rank {dst} with tag {tag} left"
            raise ValueError(f"{self.where(int(one))}: {missing}")
        unequal = np.flatnonzero(self.size[sends_sorted] != self.size[recvs_sorted])
        if len(unequal):
            send, recv = int(sends_sorted[unequal[0]]), int(recvs_sorted[unequal[0]])
            sent_bytes = f"{self.where(send)} sends {self.size[send]:.0f} B"
            raise ValueError(f"{self.where(recv)}: expects {self.size[recv]:.0f} B, but {sent_bytes}")
        received = np.empty(len(sends), np.int64)
        received[sent] = recvs_sorted
        return received

    def _in_turn(self, received: Ints) -> Ints:
        """What a core computes one after the other, (m, 2): by how much comes before it, then as the file has it."""
        calcs = np.flatnonzero(self.cpu >= 0)
        _, core = np.unique(np.stack((self.rank[calcs], self.cpu[calcs])), axis=1, return_inverse=True)
        if not len(calcs) or np.bincount(core).max() == 1:
            return np.empty((0, 2), np.int64)
        level = levels(len(self.what), np.concatenate((self.waits, self.follows, self._messages(received))))
        order = np.lexsort((calcs, level[calcs], core))
        same = core[order[1:]] == core[order[:-1]]
        return np.stack((calcs[order[:-1]][same], calcs[order[1:]][same]), axis=1)

    def plan(self, job: Job, received: Ints, servers: Servers | None = None) -> Plan:
        """With rank i on host i of the job. A send is over when its message has been received."""
        program = Program(job.hosts, servers)
        node = np.empty(len(self.what), np.int64)
        sends, recvs, calcs = self.sends, np.flatnonzero(self.what == What.RECV), np.flatnonzero(self.what == What.CALC)
        begin = program.steps(Kind.COMPUTE, np.arange(self.ranks), 0, start=job.start)
        done = program.steps(Kind.DONE, np.arange(self.ranks), 0, after=begin)
        node[calcs] = program.steps(Kind.COMPUTE, self.rank[calcs], 0, self.length[calcs])
        node[recvs] = program.steps(Kind.JOIN, self.rank[recvs], 0)
        made = Exchange(
            self.rank[sends], self.peer[sends], np.maximum(self.size[sends], 1.0), np.empty((0, 2), np.int64)
        )
        node[sends] = program.exchange(made, begin[self.rank[sends]])
        program.wait(node[sends], node[received])
        program.wait(begin[self.rank[calcs]], node[calcs])
        before, after = self.waits.T
        last = np.ones(len(node), np.bool_)  # of its rank: what another one waits for is over before that
        last[before] = False
        program.wait(node[last], done[self.rank[last]])
        program.wait(node[before], node[after])
        program.wait(*node[self._in_turn(received)].T)
        if len(self.follows):
            led = np.unique(self.follows[:, 0])
            gate = np.full(len(self.what), 0)
            gate[led] = program.steps(Kind.JOIN, self.rank[led], 0, after=begin[self.rank[led]])
            into = np.isin(self.waits[:, 1], led)
            program.wait(node[self.waits[into, 0]], gate[self.waits[into, 1]])
            leading, following = self.follows.T
            program.wait(gate[leading], node[following])
            chained = np.isin(following, led)
            program.wait(gate[leading[chained]], gate[following[chained]])
        return program.plan(job)
