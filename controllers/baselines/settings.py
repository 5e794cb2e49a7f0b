"""What training Aurora, PPO and REINFORCE can be told, and their presets."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from testbed.sdk.jobs import JobConfig
from testbed.units import Ratio, Time

Senders = tuple[Annotated[int, Field(ge=1, le=8192)], ...]


class Settings(JobConfig):
    """What PPO and REINFORCE share: ADPG's incasts, which begin anew at random times."""

    seed: int = Field(default=1, ge=0, description="Of weights, episodes and actions.")
    senders: Senders = Field(default=(2, 4, 8), min_length=1, description="Flows of the incasts.")
    copies: int = Field(default=8, ge=1, le=256, description="Incasts of each number of flows.")
    start_rate: Ratio = Field(default=1.0, gt=0, le=1, description="Of a flow, as a share of line rate.")
    start_window: Time = Field(default=1e-3, ge=0, description="Within which flows start.")
    shortest_episode: Time = Field(default=6e-3, gt=0, description="Of an incast, then it begins anew.")
    longest_episode: Time = Field(default=12e-3, gt=0, description="The same.")
    beta: float = Field(default=1.5, ge=0, le=4, description="As the controller's option.")
    highest_x: float = Field(
        default=8.0, gt=0, description="Beyond it the reward falls no further; 8 as in ADPG's training here."
    )
    updates: int = Field(default=200, ge=1, le=100_000, description="Of the policy; a rollout each.")
    rollout: int = Field(default=64, ge=8, le=1000, description="Decisions in a row of each flow.")
    learning_rate: float = Field(default=2.5e-4, gt=0, le=1, description="Of Adam.")
    gamma: float = Field(default=0.99, ge=0, le=1, description="Discount of a reward per decision.")


class PpoSettings(Settings):
    """RLCC's (agents/ppo.py): 4 epochs, clip 0.2, no GAE, value 0.5, gradient norm 0.5."""

    entropy: float = Field(default=0.01, ge=0, description="Weight of the policy's entropy.")
    action: Literal["factors", "normal"] = Field(
        default="factors", description="One of six factors; or normal around a mean, decided by `reinforce` in a run."
    )


class ReinforceSettings(Settings):
    """A reconstruction: nothing is public. Of the raw reward as ADPG's paper prints it, and from where it has a slope.

    Flows that begin at line rate learn from full buffers alone: to go down, and never that it was too far.
    """

    start_rate: Ratio = Field(default=0.02, gt=0, le=1, description="Of a flow, as a share of line rate.")
    beta: float = Field(default=0.0, ge=0, le=4, description="As the controller's option.")
    highest_x: float = Field(default=1e9, gt=0, description="Beyond it the reward falls no further; 1e9 is never.")
    rollout: int = Field(default=256, ge=8, le=1000, description="Decisions in a row of each flow.")
    learning_rate: float = Field(default=1e-3, gt=0, le=1, description="Of Adam.")
    sigma: float = Field(default=0.1, gt=0, le=2, description="Deviation of an action, which is from -1 to 1.")


class AuroraSettings(JobConfig):
    """PCC-RL's PPO where it has them, on the gym's incasts."""

    seed: int = Field(default=1, ge=0, description="Of weights, episodes and actions.")
    reward: Literal["published", "rescaled"] = Field(default="published", description="As the controller's option.")
    senders: Senders = Field(default=(2, 4, 8), min_length=1, description="Flows of the incasts.")
    start_rate: Ratio = Field(default=0.3, gt=0, le=1, description="Of a flow, as a share of line rate.")
    episode: Time = Field(default=4e-3, gt=0, description="Then flows begin anew.")
    decisions: int = Field(default=15_000, ge=100, le=100_000_000, description="Of all flows together.")
    rollout: int = Field(default=64, ge=8, le=10_000, description="Decisions of a flow between two updates.")
    learning_rate: float = Field(default=1e-3, gt=0, le=1, description="Of Adam.")
    gamma: float = Field(default=0.99, ge=0, le=1, description="Discount of a reward per interval.")


PRESETS: dict[str, dict[str, dict[str, Any]]] = {
    "aurora": {
        "published": {},
        "rescaled": {"reward": "rescaled"},
        "alone": {"reward": "rescaled", "senders": (1,)},
    },
    "ppo": {"rlcc": {}, "raw": {"highest_x": 1e9}, "normal": {"action": "normal"}},
    "reinforce": {
        "printed": {},
        "raw": {"beta": 1.5, "start_rate": 1.0},
        "limited": {"beta": 1.5, "start_rate": 1.0, "highest_x": 8, "learning_rate": 1e-2, "updates": 300},
    },
}
NOTES: dict[str, dict[str, str]] = {
    "ppo": {
        "rlcc": "settings of the published code, x limited",
        "raw": "the reward without a limit: no better than at first",
        "normal": "the paper's other version, whose actions are continuous",
    },
    "aurora": {
        "published": "the published reward: nothing but throughput counts",
        "rescaled": "throughput in shares, latency in base RTTs",
        "alone": "rescaled, with one flow alone, as published",
    },
    "reinforce": {
        "printed": "the reward as ADPG's paper prints it, from 2 % of line rate",
        "raw": "ADPG's reward with beta, from line rate: idles",
        "limited": "the same with x limited, ADPG's learning rate: line rate, or idle, or one seed that holds the line",
    },
}
