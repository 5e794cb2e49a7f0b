"""What training SPINE can be told, and its presets."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from testbed.sdk.jobs import JobConfig


class Settings(JobConfig):
    """The defaults are the recipe's (docs/explanation/spine.md)."""

    seed: int = Field(default=1, ge=0, description="Of weights, bottlenecks and noise; of the first attempt.")
    attempts: int = Field(default=3, ge=1, le=100, description="Seeds that are trained; the best that passes is kept.")
    credit: Literal["shared", "own"] = Field(
        default="shared", description="Whose throughput a flow's reward has: the bottleneck's, or its own."
    )
    cost: float = Field(default=0.01, ge=0, description="Of a trigger, in the reward.")
    senders: tuple[Annotated[int, Field(ge=1, le=8192)], ...] = Field(
        default=(1, 2, 4, 8, 16, 32, 256), min_length=1, description="Flows of the bottlenecks."
    )
    copies: int = Field(default=4, ge=1, le=256, description="Bottlenecks of each number of flows.")
    intervals: int = Field(default=32, ge=4, le=1000, description="Of an episode.")
    episodes: int = Field(default=100, ge=1, le=1_000_000, description="Each is learnt from at once.")
    always: float = Field(
        default=0.4, gt=0, le=1, description="Share of the episodes, the first, in which every interval triggers."
    )
    rate: float = Field(default=3e-3, gt=0, le=1, description="Of Adam, at first; decays to a fifth.")
    spread: float = Field(
        default=0.5, gt=0, le=5, description="Of the generator's outputs, at first; decays to 20 % meanwhile."
    )
    check_every: int = Field(default=10, ge=1, description="Episodes between two evaluations.")


PRESETS: dict[str, dict[str, Any]] = {"recipe": {}, "selfish": {"credit": "own"}}
NOTES = {"recipe": "flows share the reward", "selfish": "a flow is rewarded for its own throughput"}
