"""What one switch's tuner did in a run: when it decided, how long that took, what it reported, what was refused."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from testbed.base.arrays import Floats
from testbed.units import rounded


class TunerNow(NamedTuple):
    """One switch's tuner at a moment of the run."""

    switch: str
    reward: float  # of the last slot, as the tuner tells; nan if it tells none
    decisions: int
    seconds: float  # CPU time of all decisions
    refusals: int
    state: str = ""  # what the tuner says that it is doing


@dataclass
class TunerLog:
    """One entry per slot that ended. ``seconds`` is CPU time: what the decision costs, whoever else is on the core."""

    switch: str
    slot: float = float("inf")  # nominal s between two decisions, as asked
    time: list[float] = field(default_factory=list)  # nominal s
    seconds: list[float] = field(default_factory=list)
    reports: list[dict[str, float]] = field(default_factory=list)
    states: list[str] = field(default_factory=list)
    refusals: int = 0  # decisions that could not be applied
    first_refusal: str = ""
    learned: dict[str, bytes] = field(default_factory=dict)  # files to keep, by name

    def decided(self, now: float, seconds: float, report: dict[str, float], state: str = "") -> None:
        """A slot has ended, and the tuner was asked."""
        self.time.append(now)
        self.seconds.append(seconds)
        self.reports.append(report)
        self.states.append(state)

    def refuse(self, why: str) -> None:
        """What was decided cannot be applied."""
        self.refusals += 1
        self.first_refusal = self.first_refusal or f"at {self.switch}, {self.time[-1] * 1e3:.4g} ms: {why}"

    def missed(self, duration: float) -> float:
        """Share of the slots of a run (s) that never ended, for whoever calls the tuner was late. The last may not."""
        due = duration / self.slot - 1
        return max(0.0, 1 - len(self.time) / due) if due >= 1 else 0.0

    @property
    def now(self) -> TunerNow:
        """For live views."""
        reward = self.reports[-1].get("reward", np.nan) if self.reports else np.nan
        state = self.states[-1] if self.states else ""
        return TunerNow(self.switch, reward, len(self.time), sum(self.seconds), self.refusals, state)

    def as_dict(self) -> dict[str, Any]:
        """For the manifest: how often and how fast it decided, means of what it reported, how many slots it was in
        which state, and what was refused.
        """
        told = {"switch": self.switch, "decisions": len(self.time), "refusals": self.refusals}
        if self.seconds:
            median, slow = np.quantile(self.seconds, (0.5, 0.99))
            told |= {"decision_seconds": {"p50": rounded(median, 3), "p99": rounded(slow, 3)}}
            names = dict.fromkeys(name for one in self.reports for name in one)
            told |= {"means": {name: rounded(float(np.nanmean(self.reported(name))), 5) for name in names}}
        if states := Counter(filter(None, self.states)):
            told |= {"states": dict(states)}
        return told | ({"first_refusal": self.first_refusal} if self.refusals else {})

    def reported(self, name: str) -> Floats:
        """One of the reported numbers for every slot; nan where it was not told."""
        return np.array([one.get(name, np.nan) for one in self.reports], float)
