"""What one switch's tuner did in a run: when it decided, how long that took, what it reported, what was refused."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from testbed.controller import Floats


@dataclass
class TunerLog:
    """One entry per slot that ended. ``seconds`` is wall time: a switch's processor decides in no other."""

    switch: str
    time: list[float] = field(default_factory=list)  # nominal s
    seconds: list[float] = field(default_factory=list)
    reports: list[dict[str, float]] = field(default_factory=list)
    refusals: int = 0  # decisions that could not be put in force
    first_refusal: str = ""

    def decided(self, now: float, seconds: float, report: dict[str, float]) -> None:
        """A slot has ended, and the tuner was asked."""
        self.time.append(now)
        self.seconds.append(seconds)
        self.reports.append(dict(report))

    def refuse(self, why: str) -> None:
        """What was decided cannot be put in force."""
        self.refusals += 1
        self.first_refusal = self.first_refusal or f"at {self.switch}, {self.time[-1] * 1e3:.4g} ms: {why}"

    def reported(self, name: str) -> Floats:
        """One of the reported numbers for every slot; nan where it was not told."""
        return np.array([one.get(name, np.nan) for one in self.reports], float)
