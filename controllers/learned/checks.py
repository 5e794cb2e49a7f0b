"""What a training looks at on its way: policies in closed loops."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Generic, TypeVar

import numpy as np


@dataclass(frozen=True)
class Measured(ABC):
    """Figures of one number of flows: means over the bottlenecks."""

    flows: int
    reward: float

    @property
    @abstractmethod
    def gates(self) -> Iterable[tuple[str, float, float, bool]]:
        """What it must do before it is kept: word, value, limit, whether it is good."""

    @property
    def failure(self) -> str:
        """The first gate that is missed, or nothing."""
        missed = (
            f"{word} is {value:.4g}, the gate is {limit:g}" for word, value, limit, good in self.gates if not good
        )
        return next((f"with {self.flows} flows {one}" for one in missed), "")

    def as_dict(self) -> dict[str, Any]:
        """For logs."""
        return {name: round(value, 5) for name, value in asdict(self).items()}


Figures = TypeVar("Figures", bound=Measured)
Policy = TypeVar("Policy")


@dataclass(frozen=True)
class Check(Generic[Figures, Policy]):
    """A policy as it was after so many updates or episodes, and what it did."""

    number: int
    seconds: float  # of CPU
    figures: list[Figures]
    policy: Policy

    def as_dict(self, unit: str) -> dict[str, Any]:
        """For logs, with the name of what is counted."""
        return {
            unit: self.number,
            "cpu_seconds": round(self.seconds, 2),
            "mean_reward": round(mean_reward(self.figures), 5),
            "figures": [one.as_dict() for one in self.figures],
        }


def failure(figures: Sequence[Measured]) -> str:
    """The first gate that is missed, or nothing."""
    return next((one.failure for one in figures if one.failure), "")


def mean_reward(figures: Sequence[Measured]) -> float:
    """Over the numbers of flows."""
    return float(np.mean([one.reward for one in figures]))
