"""The options of training ACC. Most of its coefficients are not published; see docs/reference/tuners.md."""

from __future__ import annotations

from typing import Self

from pydantic import Field, model_validator

from testbed.sdk.jobs import JobConfig

from ..learned.tuner import Workload


class Settings(JobConfig):
    """The defaults made the shipped policies."""

    seed: int = Field(default=1, ge=0, description="Of the first switch; the others' follow.")
    workloads: tuple[Workload, ...] = Field(
        default=("websearch", "datamining"), min_length=1, description="One policy for each."
    )
    slots: int = Field(default=2000, ge=10, le=10_000_000, description="Of each switch.")
    episode: int = Field(default=128, ge=8, le=10_000, description="Slots until traffic and links are drawn anew.")
    switches: int = Field(default=2, ge=1, le=16, description="Learners, with a replay of their own and a shared one.")
    ports: int = Field(default=16, ge=1, le=256, description="Queues of each switch.")
    rate: float = Field(default=1e-3, gt=0, le=1, description="Adam's learning rate.")
    gamma: float = Field(default=0.9, ge=0, lt=1, description="Weight of the next slot's value.")
    batch: int = Field(default=256, ge=16, le=100_000)
    shared: float = Field(default=0.5, ge=0, le=1, description="Share of a batch that is from the shared replay.")
    memory: int = Field(default=20_000, ge=256, le=10_000_000, description="Transitions in each replay.")
    explore: float = Field(default=0.05, ge=0, le=1, description="Random actions in the second half; 1 at first.")

    @model_validator(mode="after")
    def _learns(self) -> Self:
        most = min(self.memory, self.slots * self.ports)
        if self.batch > most:
            raise ValueError(f"batch is {self.batch}, but a replay gets {most} rows at most: nothing would be learned")
        return self
