"""PPO and REINFORCE: ADPG's observation, action and reward, and networks that were trained in other ways.

`ppo` is the published code's: six factors on the rate, one of which is drawn at every decision (facts sheet 4.2, from
RLCC's agents/ppo.py; there the least is 0.8, its observation was marks and NACKs). `reinforce` is a reconstruction, for
there is no public code: a factor from a normal distribution, whose mean decides once it is trained (4.3).
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

from pydantic import Field

from testbed.controller import Ack, Path
from testbed.learned import Numbers

from ..adpg.flow import LEAST, MOST, AdpgFlow
from ..adpg.observation import DOWN, FEATURES, UP, AdpgConfig
from ..learned.network import Layers
from ..learned.neural import NeuralFlow
from .shipped import BySeed, Shipped

FACTORS = (0.8, 0.95, 1.0, 1.05, 1.1, 1.2)
HIDDEN = (32, 16)
DICE = 2**31


class MultiplierConfig(Shipped, AdpgConfig):
    """ADPG's options, and which policy."""

    beta: float = Field(
        default=1.5, ge=0, le=4, description="RTT inflation up to which there is no congestion; 0: any RTT counts."
    )


class ReinforceConfig(MultiplierConfig):
    """The same with ADPG's reward as its paper prints it, which has no beta (facts sheet 1, 4.1)."""

    beta: float = Field(
        default=0.0, ge=0, le=4, description="RTT inflation up to which there is no congestion; 0: any RTT counts."
    )
    sigma: float = Field(
        default=0.0,
        ge=0,
        le=2,
        description="Deviation of an action from the mean, as in training; 0: the mean decides.",
    )


class PpoConfig(MultiplierConfig):
    """The same, and how PPO decides."""

    drawn: bool = Field(default=True, description="A factor is drawn, as in training; false: the most probable one.")


class Multiplier(BySeed, AdpgFlow, NeuralFlow):
    """ADPG's loop around a network."""

    Config = MultiplierConfig
    presets: ClassVar[dict[str, dict[str, Any]]] = {name: AdpgFlow.presets[name] for name in ("windowed", "paper")}
    outputs: ClassVar[int]

    def __init__(self, config: MultiplierConfig, path: Path) -> None:
        super().__init__(config, path)
        self.ask(self.load(config))

    @classmethod
    def load(cls, config: MultiplierConfig) -> Layers:
        """What decides. Raises BadInput."""
        return Layers.load(cls.file(config), (FEATURES, *HIDDEN, cls.outputs))


class Drawing(Multiplier):
    """One whose decisions are drawn."""

    dice: int

    def on_ack(self, ack: Ack) -> None:
        # The same in a run and in its replay: chance comes from the time.
        self.dice = (self.dice * 1103515245 + int(ack.now * 1e12) % DICE + 12345) % DICE
        super().on_ack(ack)


class Ppo(Drawing):
    """PPO on ADPG's reward: one of six factors on the rate, drawn once per RTT."""

    name = "ppo"
    Config = PpoConfig
    config: PpoConfig
    action = Numbers(1, FACTORS[0], FACTORS[-1])
    outputs = len(FACTORS)

    def policy(self) -> float:
        self.answer()
        highest = self.values[0]
        for one in range(1, len(FACTORS)):
            highest = max(highest, self.values[one])
        total = 0.0
        for one in range(len(FACTORS)):
            self.values[one] = math.exp(self.values[one] - highest)
            total += self.values[one]
        left = total * self.dice / DICE
        for one in range(len(FACTORS)):
            left -= self.values[one]
            if left < 0 if self.config.drawn else self.values[one] == 1.0:
                return FACTORS[one]
        return FACTORS[-1]


class Reinforce(Drawing):
    """REINFORCE on ADPG's reward as printed: the mean of the distribution that it has learned, or drawn from it."""

    name = "reinforce"
    Config = ReinforceConfig
    config: ReinforceConfig
    action = Numbers(1, LEAST, MOST)
    outputs = 1

    def policy(self) -> float:
        """As `adpg.observation.multiplier`, of tanh."""
        self.answer()
        action = math.tanh(self.values[0])
        if self.config.sigma > 0:
            # Box and Muller's; the second number is drawn from the low bits of the first.
            one, other = (self.dice + 1.0) / (DICE + 1.0), (self.dice * 16807 % DICE) / DICE
            action += self.config.sigma * math.sqrt(-2.0 * math.log(one)) * math.cos(2.0 * math.pi * other)
            action = min(max(action, -1.0), 1.0)
        return 1.0 + UP * action if action >= 0 else 1.0 / (1.0 - DOWN * action)
