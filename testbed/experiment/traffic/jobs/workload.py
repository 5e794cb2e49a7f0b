"""Jobs from workloads of SimAI: transformers layer by layer."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal, Self

import numpy as np
from pydantic import Field, PrivateAttr, model_validator

from testbed.base.arrays import Ints
from testbed.base.inputs import Input
from testbed.experiment.block import Count, refuse
from testbed.experiment.traffic.jobs import collectives, workload_file
from testbed.experiment.traffic.jobs.job import JobPattern
from testbed.experiment.traffic.jobs.program import Exchange, Program
from testbed.experiment.traffic.jobs.workload_file import Phase, Workload
from testbed.experiment.traffic.pattern import Context, Keys
from testbed.experiment.traffic.plan import Plan
from testbed.experiment.traffic.tasks import Job, Kind

NS = 1e-9
ROUNDS = {"ALLREDUCE": 2, "ALLGATHER": 1, "REDUCESCATTER": 1}


class SimAIWorkload(JobPattern):
    """A workload of SimAI (`workload.txt` of AICB).

    Forward each layer computes, then comes its collective; backward the gradient of the input likewise, then that of
    the weights, whose collective goes on beside the next layers, until the next iteration's layer. Neighbours are ranks
    of tensor parallelism, then of expert, data and pipeline parallelism. Collectives are rings, an all-to-all messages
    at once.

    [Files](../howto/files.md) says what is added for a pipeline.
    """

    pattern: Literal["simai"] = Field(description="`simai`")
    file: str = Field(description="Path of the workload, relative to this file.")
    ranks: Annotated[int, Field(strict=True, ge=2)] | None = Field(
        default=None, description="How many there are; by default as the file says with `all_gpus`."
    )
    iterations: Count = Field(default=1, description="How often it is done.")

    _workload: Workload = PrivateAttr()
    _input: Input = PrivateAttr()

    @model_validator(mode="after")
    def _readable(self) -> Self:
        path = Path(self.file).expanduser()
        try:
            self._workload = made = workload_file.read(path, self.ranks)
        except OSError as error:
            refuse("file", f"cannot read {path}: {error.strerror}")
        except ValueError as error:
            refuse("file", str(error))
        form = f"a workload of SimAI: {made.ranks:,} ranks, layers: {len(made.layers):,}"
        form += f", stages: {made.stages}" if made.stages > 1 else ""
        left_out = sum(bool(phase.size) for layer in made.layers for phase in layer if not phase.collective)
        form += f"; broadcasts, which are left out as there: {left_out:,}" if left_out else ""
        self._input = Input.of("file", path, form)
        return self

    def hosts_needed(self) -> int:
        """One per rank."""
        return self._workload.ranks

    def flow_count(self, _context: Context) -> float:
        """Exactly."""
        work = self._workload
        phases = [phase for layer in work.layers for phase in layer if phase.collective]
        forward = [work.layers[n].forward for layer, begin in work.again.items() for n in range(begin, layer)]
        phases += [phase for phase in forward if phase.collective]
        passed = 2 * (work.ranks - work.ranks // work.stages)
        return self.iterations * (passed + sum(self._messages(phase) for phase in phases))

    def _messages(self, phase: Phase) -> int:
        others = self._size_of(phase.group) - 1
        return self._workload.ranks * others * ROUNDS.get(phase.collective, 1)

    def _size_of(self, group: str) -> int:
        work = self._workload
        data = work.ranks // (work.tensor * work.stages)
        return {"TP": work.tensor, "DP": data, "EP": work.expert, "DP_EP": data // work.expert}[group]

    def _groups(self, group: str) -> Ints:
        """Ranks, shape (groups, size)."""
        work = self._workload
        ranks = np.arange(work.ranks).reshape(work.stages, -1, work.expert, work.tensor)
        order = {"TP": (0, 1, 2, 3), "DP": (0, 3, 1, 2), "EP": (0, 1, 3, 2), "DP_EP": (0, 2, 3, 1)}[group]
        return ranks.transpose(order).reshape(-1, self._size_of(group))

    def _exchange(self, phase: Phase) -> Exchange:
        size = self._size_of(phase.group)
        if phase.collective == "ALLTOALL":
            one = collectives.everybody(np.full((size, size), max(phase.size / size, 1.0)))
        else:
            one = collectives.ring(size, phase.size, ROUNDS[phase.collective])
        return collectives.together([collectives.among(one, ranks) for ranks in self._groups(phase.group)])

    def _pipeline(self) -> list[Exchange]:
        """What stages pass on, and back."""
        work = self._workload
        ranks, apart = np.arange(work.ranks), work.ranks // work.stages
        low, high, none = ranks[:-apart], ranks[apart:], np.empty((0, 2), np.int64)
        size = np.full(len(low), float(work.passed))
        return [Exchange(low, high, size, none), Exchange(high, low, size, none)] if work.stages > 1 else []

    def placed(self, hosts: Sequence[str], context: Context) -> Plan:
        """Iteration after iteration."""
        program, ranks = Program(hosts, context.servers), np.arange(self._workload.ranks)
        made = {
            phase: self._exchange(phase) for layer in self._workload.layers for phase in layer if self._sends(phase)
        }
        bubble = self._workload.bubble * sum(phase.ns for layer in self._workload.layers for phase in layer)
        summed: dict[int, Ints] = {}  # by layer: when the weights' gradient is summed
        at = program.steps(Kind.JOIN, ranks, start=self.start)

        def carried_out(phase: Phase, iteration: int, after: Ints) -> tuple[Ints, Ints]:
            """When a phase's computing is over, and its collective."""
            computed = program.steps(Kind.COMPUTE, ranks, iteration, phase.ns * NS, after=after)
            if phase not in made:
                return computed, computed
            over = program.steps(Kind.JOIN, ranks, iteration, after=computed)
            exchange = made[phase]
            program.done(exchange, program.exchange(exchange, computed[exchange.src]), over)
            return computed, over

        for iteration in range(self.iterations):
            for number, layer in enumerate(self._workload.layers):
                if number in summed:
                    waited = program.steps(Kind.JOIN, ranks, iteration, after=at)
                    program.wait(summed[number], waited)
                    at = waited
                _, at = carried_out(layer.forward, iteration, at)
            for number, layer in reversed([*enumerate(self._workload.layers)]):
                for once_more in self._workload.layers[self._workload.again.get(number, number) : number]:
                    _, at = carried_out(once_more.forward, iteration, at)
                _, at = carried_out(layer.inputs, iteration, at)
                at, summed[number] = carried_out(layer.weights, iteration, at)
            for passed in self._pipeline():
                over = program.steps(Kind.JOIN, ranks, iteration, after=at)
                program.done(passed, program.exchange(passed, at[passed.src]), over)
                at = over
            if bubble:
                at = program.steps(Kind.COMPUTE, ranks, iteration, bubble * NS, after=at)
            done = program.steps(Kind.DONE, ranks, iteration, after=at)
            for over in summed.values():
                program.wait(over, done)
        return program.plan(Job(self.called, "simai", tuple(hosts), self.iterations, self.start))

    def _sends(self, phase: Phase) -> bool:
        return bool(phase.collective) and self._size_of(phase.group) > 1

    def inputs(self) -> list[Input]:
        """The workload."""
        return [self._input]

    @property
    def blamed(self) -> Keys:
        """The file says all but the start."""
        return Keys("file", "file")
