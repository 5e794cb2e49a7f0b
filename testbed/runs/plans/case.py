"""What a test plan is made of: cases, their runs, and what each run must show."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from testbed.runs.plans.observed import Observed
from testbed.runs.plans.switch import Switch

Experiment = dict[str, Any]  # as an experiment file has it


@dataclass(frozen=True)
class Expectation:
    """What a run must show, or what is noted.

    ``breaks``: settings with which it fails, or it would prove nothing; ``missing``: why it does not apply.
    """

    says: str
    of: Callable[[Observed], float]
    least: float = -math.inf
    most: float = math.inf
    unit: str = ""
    breaks: Sequence[str] = ()
    missing: str = ""

    def __post_init__(self) -> None:
        if self.judges and not self.breaks:
            raise ValueError(f"{self.says}: nothing is known to break it")

    @property
    def judges(self) -> bool:
        """Whether it can fail."""
        return not self.missing and (math.isfinite(self.least) or math.isfinite(self.most))

    def holds(self, value: float) -> bool:
        """What is not known does not hold."""
        return not self.judges or self.least <= value <= self.most

    @property
    def bounds(self) -> str:
        """In words: ``at most 100``."""
        if self.least == self.most:
            return f"{self.least:g}{self.unit}"
        words = [f"at least {self.least:g}{self.unit}"] if math.isfinite(self.least) else []
        words += [f"at most {self.most:g}{self.unit}"] if math.isfinite(self.most) else []
        return ", ".join(words) or "noted"


@dataclass(frozen=True)
class Search:
    """For the highest share of the line rate, in %, at which a run ``passes``; ``key``: what sets the share."""

    key: str
    passes: Callable[[Observed], bool]
    within: float = 0.5

    def highest(self, run: Callable[[str], Observed]) -> Observed:
        """By bisection; the run at the highest that passes, or at the lowest that was tried if none does."""
        low, high, best, share = 0.0, 100.0, None, 100.0
        while True:
            seen = run(f"{self.key}={share:g} %")
            if self.passes(seen):
                low, best = share, seen
            else:
                high = share
            if share == low == 100 or high - low <= self.within:
                return replace(best or seen, found=low)
            share = (low + high) / 2


@dataclass(frozen=True)
class Trial:
    """One run of a case; ``missing``: why there is none."""

    name: str
    experiment: Experiment = field(default_factory=dict)
    expectations: Sequence[Expectation] = ()
    captures: Sequence[str] = ()  # points, such as nic:h4
    missing: str = ""
    search: Search | None = None


@dataclass(frozen=True)
class Case:
    """Its runs with a switch, or NotApplicable; ``missing``: why there are none."""

    key: str
    title: str
    trials: Callable[[Switch], Sequence[Trial]] = field(default=lambda _switch: ())
    missing: str = ""


@dataclass(frozen=True)
class TestPlan:
    """A plan, and where it was published."""

    __test__ = False  # not a pytest class

    name: str
    title: str
    source: str
    cases: Sequence[Case]


def none(says: str, of: Callable[[Observed], float], breaks: Sequence[str]) -> Expectation:
    """There must be none of it."""
    return Expectation(says, of, 0, 0, breaks=breaks)


def some(says: str, of: Callable[[Observed], float], breaks: Sequence[str]) -> Expectation:
    """There must be some of it."""
    return Expectation(says, of, least=1, breaks=breaks)


def alike(
    says: str, of: Callable[[Observed], float], percent: float, breaks: Sequence[str], missing: str = ""
) -> Expectation:
    """Two counts, or a share and its closed form, which ``says`` names both: ``of`` is by how many % they differ."""
    return Expectation(says, of, most=percent, unit=" % apart", breaks=breaks, missing=missing)
