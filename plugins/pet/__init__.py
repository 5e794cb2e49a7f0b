"""PET: an actor per switch sets the thresholds of its queues (Cheng et al., "PET: Multi-agent Independent PPO-based
Automatic ECN Tuning for High-Speed Data Center Networks"). `policies` has the trained actors, with the command, the
seed and the log of their training.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from testbed.base.arrays import Floats
from testbed.tuner import Need, Ports, PortSample, Thresholds
from testbed.units import Ratio

from ..learned.grid import Grid, exponential
from ..learned.tuner import LearnedConfig, LearnedTuner, shipped_name
from .decision import Heads
from .reward import reward

Goal = Literal["paper", "fct"]
FCT: Goal = "fct"
FCT_RATE = 25e9  # bit/s of the ports that the policy of this goal was trained on: others scale its thresholds
ALPHA = 20e3  # bytes: E(0)
LEVELS = 10  # n in E(n), section 4.2.2
PMAX = np.arange(1, 21) / 20  # steps of 5 %, section 4.2.2


def grid(alpha: float) -> Grid:
    """PET's: E(n) for Kmin and for Kmax."""
    return Grid(exponential(alpha, LEVELS), exponential(alpha, LEVELS), PMAX)


class PetConfig(LearnedConfig):
    """Options of `Pet`."""

    goal: Goal = Field(
        default="paper", description="What its policy was trained for: the paper's reward, or completion times (fct)."
    )
    flows: bool = Field(default=True, description="Let it see incast degree and mice share.")
    online: bool = Field(default=False, description="Go on training in the run (torch; the extra [train]).")
    explore: Ratio = Field(default=0.2, ge=0, le=1, description="Online: share of decisions drawn from the policy.")
    guard: Ratio = Field(
        default=0.2,
        gt=0,
        le=1,
        description="Online: static thresholds take over where the reward is lower by this share.",
    )
    learn: int = Field(default=0, ge=0, description="Online: slots after which it learns no more; 0 for never.")
    seed: int = Field(default=1, ge=0, description="Online: of what is drawn.")

    @model_validator(mode="after")
    def _of_one_goal(self) -> Self:
        if self.goal == FCT and self.online:
            raise ValueError("no switch sees completion times, so goal=fct cannot be learned online; leave out online")
        if self.goal == FCT and not self.flows and not self.policy:
            raise ValueError("the policy of goal=fct was trained with flows; leave out flows=false, or name a policy")
        return self


class Pet(LearnedTuner):
    """PET: thresholds from an actor that IPPO has trained, on what the switch sees of its queues and flows."""

    name = "pet"
    Config = PetConfig
    needs = Need.FLOWS
    folder = Path(__file__).with_name("policies")
    presets: ClassVar[dict[str, dict[str, Any]]] = {
        "websearch": {"workload": "websearch"},
        "datamining": {"workload": "datamining"},
        "fct": {"goal": FCT},
    }

    config: PetConfig

    def __init__(self, config: PetConfig, ports: Ports) -> None:
        super().__init__(config, ports)
        self.heads = Heads(self.grid, ports.buffer / self.scale)
        self.learner = None
        if config.online:
            from .online import Online

            self.learner = Online(self)

    @classmethod
    def shipped(cls, config: LearnedConfig) -> str:
        assert isinstance(config, PetConfig)
        return FCT if config.goal == FCT else shipped_name(config.workload, blind=not cls.sees_flows(config))

    @classmethod
    def scaled(cls, config: LearnedConfig, ports: Ports) -> Floats:
        """The paper's grid is the same at all rates."""
        assert isinstance(config, PetConfig)
        return ports.rate / FCT_RATE if config.goal == FCT else super().scaled(config, ports)

    @classmethod
    def sees_flows(cls, config: LearnedConfig) -> bool:
        assert isinstance(config, PetConfig)
        return config.flows

    @classmethod
    def make_grid(cls, alpha: float) -> Grid:
        return grid(alpha)

    @classmethod
    def outputs(cls) -> int:
        return sum(grid(1.0).sizes)

    def on_slot(self, now: float, sample: PortSample) -> Thresholds:  # noqa: ARG002 - part of the interface
        features = self.observation.append(sample)
        if self.config.goal != FCT:
            rewards = reward(sample, self.ports, self.weights)
            self.report = {"reward": sum(rewards.tolist()) / len(rewards)}
            if self.learner is not None:
                return self.learner.decide(features, rewards, sample.tx_rate)
        scores = self.policy.scores(features)
        if not math.isfinite(np.add.reduce(scores, axis=None)):
            return self.unusable()
        self.current = self.heads.best(scores)
        return self.thresholds(self.current)

    def learned(self) -> dict[str, bytes]:
        return self.learner.learned() if self.learner else {}
