"""Jobs that do one collective operation again and again, as nccl-tests does."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from testbed.base.arrays import Ints
from testbed.experiment.block import Count, Moment, refuse
from testbed.experiment.traffic.jobs import collectives, trees
from testbed.experiment.traffic.jobs.job import Repeated
from testbed.experiment.traffic.jobs.program import Exchange, Program
from testbed.experiment.traffic.pattern import Context
from testbed.experiment.traffic.plan import Plan
from testbed.experiment.traffic.tasks import Kind
from testbed.units import Size

Bytes = Annotated[Size, Field(ge=1)]
MOST_DIRECT = 128  # ranks: every message of the second half waits for N - 1 of the first


class Operation(Repeated):
    """Each iteration begins when every rank has done the one before."""

    compute: Moment = Field(default=0.0, description="How long each rank computes before each operation.")
    channels: Count = Field(
        default=1,
        description="Parts of the buffer that are handled at once, over queue pairs of their own, as in NCCL.",
    )

    @abstractmethod
    def exchange(self, size: float, context: Context) -> Exchange:
        """The messages of one channel, which has so many bytes of the buffer."""

    def exchanges(self, context: Context) -> Exchange:
        """The messages of one operation."""
        sizes = collectives.parts(self.size, self.channels)  # type: ignore[attr-defined] # of each
        return collectives.together(
            [
                replace(one, channel=np.full(len(one.src), number))
                for number, one in enumerate(self.exchange(float(size), context) for size in sizes)
            ]
        )

    @property
    @abstractmethod
    def moved(self) -> tuple[float, float]:
        """Size of an operation in bytes, and its bus bandwidth / algorithm bandwidth, as nccl-tests defines them."""

    def flow_count(self, context: Context) -> float:
        """Exactly."""
        return self.iterations * len(self.exchanges(context).src)

    def placed(self, hosts: Sequence[str], context: Context) -> Plan:
        """Iteration after iteration."""
        program, ranks, made = Program(hosts, context.servers), np.arange(self.ranks), self.exchanges(context)
        done = None
        for iteration in range(self.iterations):
            start = 0.0 if iteration else self.start
            begin = program.steps(Kind.COMPUTE, ranks, iteration, self.compute * self.pace, start=start)
            if done is not None:
                program.barrier(done, begin)
            done = program.steps(Kind.DONE, ranks, iteration, after=begin)
            program.done(made, program.exchange(made, begin[made.src]), done)
        return program.plan(self.job(hosts, *self.moved))


class _Chosen(Operation):
    """Of several algorithms, some of which do not do with any number of ranks."""

    @model_validator(mode="after")
    def _possible(self) -> Self:
        algorithm, ranks = getattr(self, "algorithm", ""), self.ranks
        if algorithm == "halving-doubling" and ranks & (ranks - 1):
            refuse("algorithm", f"halving-doubling needs a power of two of ranks, got {ranks}; use 'ring'")
        if algorithm == "direct" and ranks > MOST_DIRECT:
            refuse("algorithm", f"direct does with at most {MOST_DIRECT} ranks, got {ranks}; use 'ring'")
        if algorithm == "hierarchical" and ranks % (group := getattr(self, "group", 1)):
            refuse("group", f"must divide the ranks, {ranks}, got {group}")
        return self


class AllReduce(_Chosen):
    """Every rank gets the sum of all ranks' buffers."""

    pattern: Literal["allreduce"] = Field(description="`allreduce`")
    size: Bytes = Field(description="A rank's buffer.")
    algorithm: Literal["ring", "tree", "double-tree", "halving-doubling", "direct", "hierarchical"] = Field(
        default="ring",
        description="`ring`: 2 (N - 1) steps of size / N; `tree`: up and down a binary tree, in `chunks`; "
        "`double-tree`: half over each of two trees, leaves of one are none of the other; `halving-doubling`: 2 log2 "
        "N steps with ever other partners, N a power of two; `direct`: everybody to everybody, twice; `hierarchical`: "
        "rings in groups of `group` ranks, between their likes, and in the groups again.",
    )
    chunks: Count = Field(default=8, description="With trees: pieces that follow each other.")
    group: Annotated[int, Field(strict=True, ge=2)] = Field(
        default=8, description="With `hierarchical`: ranks near each other, as those of a server."
    )

    def exchange(self, size: float, _context: Context) -> Exchange:
        """As the algorithm has it."""
        if self.algorithm == "tree":
            return trees.both(trees.heap(self.ranks), size, self.chunks)
        if self.algorithm == "double-tree":
            return trees.two(self.ranks, size, self.chunks)
        if self.algorithm == "hierarchical":
            return collectives.hierarchical(self.ranks, size, self.group)
        if self.algorithm == "halving-doubling":
            halves = collectives.halving(self.ranks, size)
            return collectives.pairwise(self.ranks, [*halves, *reversed(halves)])
        return (collectives.direct if self.algorithm == "direct" else collectives.ring)(self.ranks, size, 2)

    @property
    def moved(self) -> tuple[float, float]:
        """The buffer; 2 (N - 1) / N."""
        return self.size, 2 * (self.ranks - 1) / self.ranks


class _OneWay(_Chosen):
    algorithm: Literal["ring", "halving-doubling", "direct"] = Field(
        default="ring",
        description="`ring`: N - 1 steps of size / N; `halving-doubling`: log2 N steps, N a power of two; `direct`: "
        "everybody to everybody.",
    )

    def exchange(self, size: float, _context: Context) -> Exchange:
        """As the algorithm has it."""
        if self.algorithm == "halving-doubling":
            return collectives.pairwise(self.ranks, self.order(collectives.halving(self.ranks, size)))
        return (collectives.direct if self.algorithm == "direct" else collectives.ring)(self.ranks, size, 1)

    @abstractmethod
    def order(self, halves: list[tuple[int, float]]) -> list[tuple[int, float]]:
        """Of the steps of halving or doubling."""

    @property
    def moved(self) -> tuple[float, float]:
        """The whole buffer; (N - 1) / N."""
        return self.size, (self.ranks - 1) / self.ranks  # type: ignore[attr-defined] # of each


class AllGather(_OneWay):
    """Every rank gets all ranks' parts."""

    pattern: Literal["allgather"] = Field(description="`allgather`")
    size: Bytes = Field(description="What every rank has in the end: the parts of all.")

    def order(self, halves: list[tuple[int, float]]) -> list[tuple[int, float]]:
        """Doubling."""
        return halves[::-1]


class ReduceScatter(_OneWay):
    """Every rank gets its part of the sum of all ranks' buffers."""

    pattern: Literal["reduce-scatter"] = Field(description="`reduce-scatter`")
    size: Bytes = Field(description="A rank's buffer; its part of the result is 1 / N of it.")

    def order(self, halves: list[tuple[int, float]]) -> list[tuple[int, float]]:
        """Halving."""
        return halves


class _Rooted(Operation):
    algorithm: Literal["ring", "tree"] = Field(
        default="ring", description="`ring`: from rank to rank; `tree`: over a binary tree; both in `chunks`."
    )
    chunks: Count = Field(default=8, description="Pieces that follow each other.")

    @property
    def parent(self) -> Ints:
        """Of each rank."""
        return (trees.chain if self.algorithm == "ring" else trees.in_order)(self.ranks)

    @property
    def moved(self) -> tuple[float, float]:
        """The buffer; 1."""
        return self.size, 1.0  # type: ignore[attr-defined] # of each


class Broadcast(_Rooted):
    """Every rank gets the buffer of rank 0."""

    pattern: Literal["broadcast"] = Field(description="`broadcast`")
    size: Bytes = Field(description="The buffer.")

    def exchange(self, size: float, _context: Context) -> Exchange:
        """From the root on."""
        return trees.down(self.parent, size, self.chunks)


class Reduce(_Rooted):
    """Rank 0 gets the sum of all ranks' buffers."""

    pattern: Literal["reduce"] = Field(description="`reduce`")
    size: Bytes = Field(description="A rank's buffer.")

    def exchange(self, size: float, _context: Context) -> Exchange:
        """To the root."""
        return trees.up(self.parent, size, self.chunks)


class AllToAllV(Operation):
    """Every rank sends a part of its buffer to each other one, all at once."""

    pattern: Literal["alltoall"] = Field(description="`alltoall`")
    size: Bytes = Field(description="A rank's buffer, of which it keeps its own part.")
    skew: Annotated[float, Field(ge=0, le=4)] = Field(
        default=0.0,
        description="Unequal parts (alltoallv): the k-th most popular rank gets 1 / k^skew from all, in an order by "
        "the seed.",
    )

    def exchange(self, size: float, context: Context) -> Exchange:
        """Of equal parts, or by popularity."""
        shares = collectives.popularity(self.ranks, self.skew, context.random())
        return collectives.everybody(np.broadcast_to(size * shares, (self.ranks, self.ranks)))

    @property
    def moved(self) -> tuple[float, float]:
        """The buffer; (N - 1) / N."""
        return self.size, (self.ranks - 1) / self.ranks
