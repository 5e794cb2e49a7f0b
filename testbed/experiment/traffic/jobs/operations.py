"""Jobs that do one collective operation again and again, as nccl-tests does."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Annotated, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from testbed.experiment.block import Count, Moment, refuse
from testbed.experiment.traffic.jobs import collectives
from testbed.experiment.traffic.jobs.job import Repeated
from testbed.experiment.traffic.jobs.program import Exchange, Program
from testbed.experiment.traffic.pattern import Context
from testbed.experiment.traffic.plan import Plan
from testbed.experiment.traffic.tasks import Kind
from testbed.units import Size

Algorithm = Literal["ring", "halving-doubling"]
Bytes = Annotated[Size, Field(ge=1)]


class Operation(Repeated):
    """Each iteration begins when every rank has done the one before."""

    compute: Moment = Field(default=0.0, description="For which each rank computes before each operation.")

    @abstractmethod
    def exchange(self, context: Context) -> Exchange:
        """The messages of one operation."""

    @property
    @abstractmethod
    def moved(self) -> tuple[float, float]:
        """Size of an operation in bytes, and its bus bandwidth / algorithm bandwidth, as nccl-tests defines them."""

    def flow_count(self, context: Context) -> float:
        """Exactly."""
        return self.iterations * len(self.exchange(context).src)

    def placed(self, hosts: Sequence[str], context: Context) -> Plan:
        """Iteration after iteration."""
        program, ranks, made = Program(self.ranks), np.arange(self.ranks), self.exchange(context)
        done = None
        for iteration in range(self.iterations):
            start = 0.0 if iteration else self.start
            begin = program.steps(Kind.COMPUTE, ranks, iteration, self.compute, start=start)
            if done is not None:
                program.barrier(done, begin)
            done = program.steps(Kind.DONE, ranks, iteration, after=begin)
            program.done(made, program.exchange(made, begin[made.src]), done)
        return program.plan(self.job(hosts, *self.moved))


class _Doubling(Operation):
    @model_validator(mode="after")
    def _power_of_two(self) -> Self:
        if getattr(self, "algorithm", "") == "halving-doubling" and self.ranks & (self.ranks - 1):
            refuse("algorithm", f"halving-doubling needs a power of two of ranks, got {self.ranks}; use 'ring'")
        return self


class AllReduce(_Doubling):
    """Every rank gets the sum of all ranks' buffers."""

    pattern: Literal["allreduce"] = Field(description="`allreduce`")
    size: Bytes = Field(description="A rank's buffer.")
    algorithm: Literal["ring", "tree", "halving-doubling"] = Field(
        default="ring",
        description="`ring`: 2 (N - 1) steps of size / N; `tree`: up and down a binary tree, in `chunks`; "
        "`halving-doubling`: 2 log2 N steps with ever other partners, N a power of two.",
    )
    chunks: Count = Field(default=8, description="Of `tree`: pieces that follow each other.")

    def exchange(self, _context: Context) -> Exchange:
        """As the algorithm has it."""
        if self.algorithm == "tree":
            return collectives.tree(self.ranks, self.size, self.chunks)
        if self.algorithm == "ring":
            return collectives.ring(self.ranks, self.size, 2)
        halves = collectives.halving(self.ranks, self.size)
        return collectives.pairwise(self.ranks, [*halves, *reversed(halves)])

    @property
    def moved(self) -> tuple[float, float]:
        """The buffer; 2 (N - 1) / N."""
        return self.size, 2 * (self.ranks - 1) / self.ranks


class _OneWay(_Doubling):
    algorithm: Algorithm = Field(
        default="ring",
        description="`ring`: N - 1 steps of size / N; `halving-doubling`: log2 N steps, N a power of two.",
    )

    @property
    def moved(self) -> tuple[float, float]:
        """The whole buffer; (N - 1) / N."""
        return self.size, (self.ranks - 1) / self.ranks  # type: ignore[attr-defined] # of each


class AllGather(_OneWay):
    """Every rank gets the parts of all ranks."""

    pattern: Literal["allgather"] = Field(description="`allgather`")
    size: Bytes = Field(description="Of what every rank has in the end: the parts of all.")

    def exchange(self, _context: Context) -> Exchange:
        """As the algorithm has it."""
        if self.algorithm == "ring":
            return collectives.ring(self.ranks, self.size, 1)
        return collectives.pairwise(self.ranks, collectives.halving(self.ranks, self.size)[::-1])


class ReduceScatter(_OneWay):
    """Every rank gets its part of the sum of all ranks' buffers."""

    pattern: Literal["reduce-scatter"] = Field(description="`reduce-scatter`")
    size: Bytes = Field(description="A rank's buffer; its part of the result is 1 / N of it.")

    def exchange(self, _context: Context) -> Exchange:
        """As the algorithm has it."""
        if self.algorithm == "ring":
            return collectives.ring(self.ranks, self.size, 1)
        return collectives.pairwise(self.ranks, collectives.halving(self.ranks, self.size))


class AllToAllV(Operation):
    """Every rank sends a part of its buffer to each other one, all at once, as experts of a mixture get tokens."""

    pattern: Literal["alltoall"] = Field(description="`alltoall`")
    size: Bytes = Field(description="A rank's buffer, of which it keeps its own part.")
    skew: Annotated[float, Field(ge=0, le=4)] = Field(
        default=0.0,
        description="How unequal the parts are (alltoallv): the k-th most popular rank gets a share of 1 / k^skew, the "
        "same from all; which one it is follows the seed. 0: all are equal.",
    )

    def exchange(self, context: Context) -> Exchange:
        """Of equal parts, or by popularity."""
        shares = collectives.popularity(self.ranks, self.skew, context.random())
        return collectives.everybody(np.broadcast_to(self.size * shares, (self.ranks, self.ranks)))

    @property
    def moved(self) -> tuple[float, float]:
        """The buffer; (N - 1) / N."""
        return self.size, (self.ranks - 1) / self.ranks
