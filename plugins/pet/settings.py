"""The options of training PET. What the paper leaves open is chosen here; see docs/reference/tuners.md."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Self

from pydantic import Field, model_validator

from testbed.sdk.jobs import JobConfig

from ..learned.tuner import Workload
from . import Goal

WORKLOADS: tuple[Workload, ...] = ("websearch", "datamining")


class Settings(JobConfig):
    """The defaults are those of the preset `sane`."""

    seed: int = Field(default=1, ge=0, description="Of the first weights, of the traffic and of what is drawn.")
    goal: Goal = Field(
        default="paper", description="paper: its reward, in the fluid model; fct: completion times, in packets."
    )
    from_run: Path | None = Field(
        default=None, description="Train nothing: keep what this run learned (tuner.online). As the option --from."
    )
    workloads: tuple[Workload, ...] = Field(default=WORKLOADS, description="One policy for each.")
    updates: int = Field(default=200, ge=1, le=100_000, description="Of the actor, each after a trajectory.")
    trajectory: int = Field(default=32, ge=8, le=1000, description="Slots between two updates.")
    episode: int = Field(default=128, ge=8, le=10_000, description="Slots until traffic and links are drawn anew.")
    ports: int = Field(default=32, ge=1, le=256, description="Queues of the switch that it trains on.")
    copies: int = Field(
        default=1, ge=1, le=64, description="Ports with the same traffic; a port's reward counts against the others'."
    )
    incasts: float = Field(
        default=0, ge=0, le=1, description="goal=fct: share of the episodes with incasts in the traffic."
    )
    ablation: tuple[Workload, ...] = Field(
        default=("websearch",), description="Also train without incast degree and mice share (the paper's ablation)."
    )
    actor_rate: float = Field(default=4e-4, gt=0, le=1, description="Adam's learning rate of the actor.")
    critic_rate: float = Field(default=1e-3, gt=0, le=1, description="Adam's learning rate of the critic.")
    unmonitored: float = Field(
        default=0.25, ge=0, le=1, description="Share of the episodes that show neither: a switch may not monitor flows."
    )
    clip: float = Field(default=0.2, gt=0, lt=1, description="Of the probability ratio.")
    clip_decays: bool = Field(default=False, description="Equation 13: 0.99 ** (update / 50) after 50 updates.")
    gamma: float = Field(default=0.9, ge=0, lt=1, description="Weight of the next slot's reward.")
    decay: float = Field(default=0.95, ge=0, le=1, description="Lambda of the generalised advantage.")
    entropy: float = Field(default=0.01, ge=0, le=1, description="Weight of the entropy; it falls to 0, linearly.")
    epochs: int = Field(default=6, ge=1, le=100, description="Passes over a trajectory.")
    batch: int = Field(default=256, ge=16, le=100_000, description="Slots of a queue per step of Adam.")

    @model_validator(mode="after")
    def _whole_copies(self) -> Self:
        if self.ports % self.copies:
            raise ValueError(f"ports ({self.ports}) must be a multiple of copies ({self.copies})")
        if not self.workloads and not self.ablation:
            raise ValueError("workloads and ablation are both empty: there is nothing to train")
        return self


PRESETS: dict[str, dict[str, Any]] = {
    "sane": {},
    "paper": {"decay": 0.01, "clip_decays": True, "entropy": 0.0},
    "fct": {"goal": "fct", "updates": 10, "episode": 320, "ports": 16, "copies": 4, "gamma": 0.97, "batch": 1024,
            "epochs": 4, "entropy": 0.002, "incasts": 0.5, "ablation": ()},
}  # fmt: skip
NOTES = {
    "sane": "the coefficients of the paper where they can be meant: lambda 0.95, 0.01 is the entropy's weight",
    "paper": "as printed: lambda 0.01, equation 13 lowers the clip, no entropy",
    "fct": "one policy for all workloads and loads, for the completion times of mice and elephants, in packets",
}
