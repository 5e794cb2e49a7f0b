"""What training DECC can be told, and its presets."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from testbed.sdk.jobs import JobConfig


class Settings(JobConfig):
    """The defaults are the recipe's (docs/explanation/decc.md)."""

    seed: int = Field(default=1, ge=0, description="Of weights, bottlenecks and noise.")
    attempts: int = Field(default=3, ge=1, le=100, description="Seeds that are tried while a policy misses the gates.")
    warm_start: bool = Field(default=True, description="First imitate a simple stable law; not in the paper.")
    credit: Literal["own", "shared"] = Field(
        default="own", description="What a flow learns from: its own part of the reward, or (as printed) everybody's."
    )
    own_fairness: float = Field(
        default=2.5, ge=0, description="Weight of a flow's distance from the mean in its own credit, times c3."
    )
    senders: tuple[Annotated[int, Field(ge=1, le=8192)], ...] = Field(
        default=(2, 4, 8, 16, 32), min_length=1, description="Flows of the bottlenecks."
    )
    copies: int = Field(default=10, ge=1, le=256, description="Bottlenecks of each number of flows.")
    updates: int = Field(default=9000, ge=10, le=10_000_000, description="Steps of the critics, of 192 transitions.")
    critics_first: int = Field(default=3000, ge=0, description="Of them, steps before the actor begins to learn.")
    per_period: int = Field(default=4, ge=1, le=64, description="Updates per monitoring period of the bottlenecks.")
    actor_rate: float = Field(default=1e-5, gt=0, le=1, description="Of Adam, at first; decays to nothing.")
    critic_rate: float = Field(default=1e-3, gt=0, le=1, description="Of Adam, at first; decays to a tenth.")
    noise: float = Field(default=0.05, gt=0, le=0.5, description="Of exploring actions, at first; decays to 40 %.")
    check_every: int = Field(default=250, ge=1, description="Updates between two evaluations.")
    prune: float = Field(default=0.65, ge=0, lt=1, description="Share of the weights that are pruned.")
    bits: int = Field(default=4, ge=2, le=8, description="Of a quantised weight, on average.")
    tune_updates: int = Field(default=3000, ge=0, description="Steps of fine tuning after pruning, and after rounding.")

    @model_validator(mode="after")
    def _order(self) -> Settings:
        if self.critics_first >= self.updates:
            raise ValueError("critics_first is not below updates")
        return self


PRESETS: dict[str, dict[str, Any]] = {
    "recipe": {},
    "wide": {"senders": (2, 4, 8, 16, 32, 64), "own_fairness": 4.0},
    "scratch": {
        "warm_start": False, "updates": 40_000, "critics_first": 0, "actor_rate": 1e-4, "noise": 0.2, "attempts": 1,
    },
    "printed": {
        "warm_start": False, "credit": "shared", "updates": 40_000, "critics_first": 0, "actor_rate": 1e-3,
        "noise": 0.2, "attempts": 1,
    },
}  # fmt: skip
NOTES = {
    "recipe": "from a warm start, with own credit",
    "wide": "64 flows in training too, and fairness weighs more: steadier over seeds",
    "scratch": "no warm start",
    "printed": "no warm start, the shared reward, the printed learning rate of the actor",
}
