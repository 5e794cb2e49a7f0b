"""What all jobs have in common: ranks, iterations, a name, and hosts to run on."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Annotated, Self

import numpy as np
from pydantic import Field, model_validator

from testbed.base.arrays import Floats
from testbed.experiment.block import Count, Moment, refuse
from testbed.experiment.traffic.all_to_all import Hosts
from testbed.experiment.traffic.flow import Payload
from testbed.experiment.traffic.pattern import Context, Keys, Pattern
from testbed.experiment.traffic.plan import Plan
from testbed.experiment.traffic.tasks import Job

JOB_PAYLOAD = Field(default=4096.0, description="User data in a full packet: RoCE's largest MTU, as NCCL has it.")


class JobPattern(Pattern):
    """Ranks, one to a host, that compute and wait for each other."""

    payload: Payload = JOB_PAYLOAD
    name: str = Field(default="", description="Name of the job, and label of its flows; by default the pattern.")
    start: Moment = Field(default=0.0, description="When the first one begins.")

    @property
    def called(self) -> str:
        """Its name."""
        return self.name or str(self.pattern)  # type: ignore[attr-defined] # of each

    def plan(self, context: Context) -> Plan:
        """On the first hosts."""
        return self.placed([f"h{number + 1}" for number in range(self.hosts_needed())], context)

    @abstractmethod
    def placed(self, hosts: Sequence[str], context: Context) -> Plan:
        """With rank i on ``hosts[i]``."""


class Repeated(JobPattern):
    """A job that does the same in every iteration."""

    ranks: Hosts = Field(description="Ranks: hosts h1 to hN, or where `jobs` places them.")
    iterations: Count = Field(default=4, description="How often it is done.")
    slower: dict[Annotated[int, Field(ge=0)], Annotated[float, Field(gt=0)]] = Field(
        default={}, description="Ranks, from 0, that compute longer, and how many times: `{3: 1.5}`."
    )

    @model_validator(mode="after")
    def _ranks_are_there(self) -> Self:
        if (far := max(self.slower, default=0)) >= self.ranks:
            refuse(f"slower.{far}", f"there is no such rank; expected 0 to {self.ranks - 1}")
        return self

    @property
    def pace(self) -> Floats:
        """By what the computing of each rank is multiplied, shape (ranks,)."""
        found = np.ones(self.ranks)
        found[list(self.slower)] = list(self.slower.values())
        return found

    def hosts_needed(self) -> int:
        """One per rank."""
        return self.ranks

    def job(self, hosts: Sequence[str], size: float = np.nan, bus: float = np.nan) -> Job:
        """Its description."""
        return Job(self.called, str(self.pattern), tuple(hosts), self.iterations, self.start, size, bus)  # type: ignore[attr-defined]

    @property
    def blamed(self) -> Keys:
        """Ranks are hosts."""
        return Keys("ranks", "iterations")
