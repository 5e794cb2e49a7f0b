"""What training ADPG can be told, and the published variants as presets (register of contradictions, rows 14 to 24)."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from testbed.sdk.jobs import JobConfig
from testbed.units import Time

from .evaluate import Aim
from .observation import HIGHEST_X

NO_LIMIT = 1e6  # of x: it is never that large


class Settings(JobConfig):
    """The defaults are the recipe's (facts sheet, recipe, 2)."""

    seed: int = Field(default=1, ge=0, description="Of the first weights and of the environments.")
    updates: int = Field(default=600, ge=25, le=100_000, description="Steps of Adam.")
    senders: tuple[Annotated[int, Field(ge=1, le=256)], ...] = Field(
        default=(2, 4, 8), min_length=1, description="Flows of the many-to-one environments."
    )
    copies: int = Field(default=8, ge=1, le=256, description="Environments of each number of senders.")
    ramp_weight: float = Field(
        default=0.2, ge=0, description="What 1000 RTTs of ramp add to a checkpoint's score (least is best)."
    )
    learning_rate: float = Field(default=0.01, gt=0, le=1, description="Of Adam, at first.")
    decay: bool = Field(default=True, description="Lower the learning rate to 0, linearly.")
    clip: Literal["norm", "value", "none"] = Field(default="norm", description="How the gradient is limited.")
    clip_at: float = Field(default=0.1, gt=0, description="The highest norm, or value, of the gradient.")
    returns: Literal["tails", "mean"] = Field(
        default="tails", description="What an action is blamed for: the signals after it, or (the paper's print) all."
    )
    gamma: float = Field(default=0.99, ge=0, le=1, description="Discount of the signals after an action.")
    reward: float = Field(default=1.0, ge=0, description="Weight of the reward's gradient.")
    eager: float = Field(default=1.0, gt=0, description="Weight of signals below the aim in the loss: ramps faster.")
    smoothness: float = Field(default=1.0, ge=0, description="Weight of the actions' spread.")
    highest_x: float = Field(
        default=HIGHEST_X, gt=0, le=NO_LIMIT, description="Limit of x; a policy in the rack always has 8."
    )
    beta: float = Field(default=1.5, ge=0, le=4, description="RTT inflation up to which there is no congestion.")
    target: float = Field(default=0.064, gt=0, le=4, description="Inflation beyond beta times sqrt(rate) aimed at.")
    start_window: Time = Field(default=1e-3, ge=0, description="Flows of an environment start within it at most.")
    shortest_episode: Time = Field(default=6e-3, gt=0, description="Environments restart after a random time: least,")
    longest_episode: Time = Field(default=12e-3, gt=0, description="and most.")
    step: Time = Field(default=0.512e-6, gt=0, le=4e-6, description="Of the fluid model.")
    attempts: int = Field(default=3, ge=1, le=100, description="Seeds that are tried while a policy fails.")

    @model_validator(mode="after")
    def _episodes(self) -> Settings:
        if self.longest_episode < self.shortest_episode:
            raise ValueError("longest_episode is below shortest_episode")
        return self

    @property
    def aim(self) -> Aim:
        """Where the policy is to hold the queue."""
        return Aim(self.beta, self.target, self.highest_x)


_AS_PUBLISHED: dict[str, Any] = {"clip": "value", "clip_at": 0.5, "decay": False, "updates": 1000}

PRESETS: dict[str, dict[str, Any]] = {
    "recipe": {},
    "nimble": {"eager": 4.0, "updates": 1000},
    "sheet": _AS_PUBLISHED,
    "rlcc": {**_AS_PUBLISHED, "highest_x": NO_LIMIT, "senders": (4, 8, 32)},
    "rlcc-10": {**_AS_PUBLISHED, "highest_x": NO_LIMIT, "senders": (4, 8, 32), "reward": 10.0},
    "paper": {**_AS_PUBLISHED, "highest_x": NO_LIMIT, "returns": "mean", "gamma": 1.0},
    "printed": {"beta": 0.0, "target": 1.16},
}
