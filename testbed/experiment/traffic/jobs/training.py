"""Jobs that train a network: data parallel, and as a pipeline of stages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from testbed.base.arrays import Floats, Ints
from testbed.experiment.block import Count, Moment, Share
from testbed.experiment.traffic.jobs import collectives
from testbed.experiment.traffic.jobs.job import Repeated
from testbed.experiment.traffic.jobs.program import Exchange, Program
from testbed.experiment.traffic.pattern import Context
from testbed.experiment.traffic.plan import Plan
from testbed.experiment.traffic.tasks import Kind
from testbed.units import Size


class Training(Repeated):
    """Data parallel: ranks compute forward and backward; the gradient is summed bucket by bucket while they compute on.

    A bucket's ring allreduce begins at a rank when its part of the backward pass is over and the bucket before is done.
    A rank's next iteration begins when it has all buckets.
    """

    pattern: Literal["training"] = Field(description="`training`")
    size: Annotated[Size, Field(ge=1)] = Field(description="The gradient.")
    buckets: Count = Field(default=4, description="Parts of the gradient; each is ready after as much of `backward`.")
    forward: Moment = Field(description="How long a rank computes before its backward pass.")
    backward: Moment = Field(description="How long it computes the gradient.")
    jitter: Share = Field(
        default=0.0,
        description="A rank computes up to this much longer in an iteration, uniform at random by the seed.",
    )

    def flow_count(self, _context: Context) -> float:
        """Exactly."""
        return self.iterations * self.buckets * 2 * (self.ranks - 1) * self.ranks

    def placed(self, hosts: Sequence[str], context: Context) -> Plan:
        """Iteration after iteration."""
        program, ranks, random = Program(hosts, context.servers), np.arange(self.ranks), context.random()
        made = collectives.ring(self.ranks, self.size / self.buckets, 2)
        done: Ints | None = None
        for iteration in range(self.iterations):
            slower: Floats = self.pace
            if self.jitter:
                slower *= 1 + random.uniform(0.0, self.jitter, self.ranks)
            start = 0.0 if iteration else self.start
            computed = program.steps(Kind.COMPUTE, ranks, iteration, self.forward * slower, start=start, after=done)
            summed: Ints | None = None
            for _ in range(self.buckets):
                part = self.backward / self.buckets * slower
                computed = program.steps(Kind.COMPUTE, ranks, iteration, part, after=computed)
                ready = program.steps(Kind.JOIN, ranks, iteration, after=computed)
                if summed is not None:
                    program.wait(summed, ready)
                summed = program.steps(Kind.JOIN, ranks, iteration, after=ready)
                program.done(made, program.exchange(made, ready[made.src]), summed)
            assert summed is not None
            done = program.steps(Kind.DONE, ranks, iteration, after=summed)
            program.wait(computed, done)
        return program.plan(self.job(hosts))


class Pipeline(Repeated):
    """Stages of a network, one to a rank; micro-batches go forward, gradients back (1F1B).

    The schedule is PipeDream's (SOSP 2019), flushed after each iteration as in Megatron-LM.
    """

    pattern: Literal["pipeline"] = Field(description="`pipeline`")
    size: Annotated[Size, Field(ge=1)] = Field(description="What a stage sends to the next per micro-batch, and back.")
    microbatches: Count = Field(default=8, description="How many an iteration has.")
    forward: Moment = Field(description="How long a stage computes per micro-batch.")
    backward: Moment = Field(description="How long it computes the gradient of one.")

    def flow_count(self, _context: Context) -> float:
        """Exactly."""
        return self.iterations * self.microbatches * 2 * (self.ranks - 1)

    def placed(self, hosts: Sequence[str], context: Context) -> Plan:
        """Iteration after iteration."""
        program, stages = Program(hosts, context.servers), np.arange(self.ranks)
        done: Ints | None = None
        for iteration in range(self.iterations):
            forward, backward = (
                np.stack(
                    [
                        program.steps(Kind.COMPUTE, stages, iteration, length * self.pace)
                        for _ in range(self.microbatches)
                    ]
                )
                for length in (self.forward, self.backward)
            )
            begin = program.steps(Kind.JOIN, stages, start=self.start) if done is None else done
            done = program.steps(Kind.DONE, stages, iteration)
            for stage in range(self.ranks):
                order = one_forward_one_backward(forward[:, stage], backward[:, stage], self.ranks - stage - 1)
                program.wait(np.concatenate((begin[[stage]], order)), np.concatenate((order, done[[stage]])))
            for computed, there in ((forward, 1), (backward, -1)):
                self._send(program, computed, there, done)
        return program.plan(self.job(hosts))

    def _send(self, program: Program, computed: Ints, there: int, done: Ints) -> None:
        """What each stage has computed goes to its neighbour, whose computing of that micro-batch waits for it."""
        stages = np.arange(self.ranks)
        src = stages[(stages + there >= 0) & (stages + there < self.ranks)]
        batch, src = (column.ravel() for column in np.meshgrid(np.arange(self.microbatches), src, indexing="ij"))
        made = Exchange(src, src + there, np.full(len(src), self.size), np.empty((0, 2), np.int64))
        messages = program.exchange(made, computed[batch, src])
        program.wait(messages, computed[batch, src + there])
        program.wait(messages, done[src])


def one_forward_one_backward(forward: Ints, backward: Ints, ahead: int) -> Ints:
    """Order of a stage's steps: ``ahead`` micro-batches forward first, then one forward and one backward in turn."""
    ahead = min(ahead, len(forward))
    paired = np.stack((forward[ahead:], backward[: len(forward) - ahead]), axis=1).ravel()
    return np.concatenate((forward[:ahead], paired, backward[len(forward) - ahead :]))
