"""What a training looks at on its way: policies in closed loops."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

import numpy as np


class Measured(Protocol):
    """Figures of one number of flows."""

    @property
    def reward(self) -> float: ...

    def as_dict(self) -> dict[str, Any]:
        """For logs."""
        ...


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


def mean_reward(figures: Sequence[Measured]) -> float:
    """Over the numbers of flows."""
    return float(np.mean([one.reward for one in figures]))
