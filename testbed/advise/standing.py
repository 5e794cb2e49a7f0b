"""How candidates stand beside the present configuration, on the same draws."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from testbed.advise.constraint import Constraint, broken
from testbed.advise.evidence import Ask, Evidence, Settings, must
from testbed.advise.objective import Figures
from testbed.advise.question import Aim

Runs = dict[str, list[Figures]]


@dataclass(frozen=True)
class Standing:
    """Of one candidate: its gain in each draw, and which constraints it breaks; ``why`` it could not run.

    ``strained``: the share of the draws in which one does not hold, though it holds in most: the best of many
    candidates lies where constraints just hold by chance, so that the search stays away from there.
    """

    candidate: Settings
    gains: Sequence[float]
    broken: Sequence[str] = ()
    strained: float = 0.0
    why: str = ""

    @property
    def gain(self) -> float:
        """Over the draws; nan if it could not run in one of them."""
        return float(np.mean(self.gains)) if self.gains else math.nan

    @property
    def allowed(self) -> bool:
        """Whether it could be advised."""
        return not self.broken and math.isfinite(self.gain)


@dataclass
class Beside:
    """What candidates are held against: the present configuration in the same draws, under the same condition."""

    evidence: Evidence
    names: Sequence[str]
    aim: Aim
    constraints: Sequence[Constraint]

    def stand(self, candidates: Sequence[Settings], draws: Sequence[int], condition: Settings = ()) -> list[Standing]:
        """All of them. Raises BadInput if the present configuration cannot run."""
        every = [(), *candidates]
        runs = [[Ask(name, draw, one, condition) for name in self.names for draw in draws] for one in every]
        self.evidence.of([ask for asks in runs for ask in asks])
        was = self.runs((), draws, condition)
        return [self._one(candidate, was, draws, condition) for candidate in candidates]

    def runs(self, candidate: Settings, draws: Sequence[int], condition: Settings = ()) -> Runs:
        """The figures of a candidate that must have run. Raises BadInput."""
        return {
            name: must(self.evidence.of([Ask(name, draw, candidate, condition) for draw in draws]), name)
            for name in self.names
        }

    def _one(self, candidate: Settings, was: Runs, draws: Sequence[int], condition: Settings) -> Standing:
        found = {name: self.evidence.of([Ask(name, draw, candidate, condition) for draw in draws])
                 for name in self.names}  # fmt: skip
        why = next((one.why for runs in found.values() for one in runs if one.why), "")
        if why:
            return Standing(candidate, [], why=why)
        now: Runs = {name: [one.figures for one in runs] for name, runs in found.items()}
        each = [bool(broken(self.constraints, _draw(now, one), _draw(was, one))) for one in range(len(draws))]
        return Standing(
            candidate, self.aim.gains(now, was), broken(self.constraints, now, was), strained=sum(each) / len(draws)
        )


def _draw(runs: Runs, number: int) -> Runs:
    return {name: [one[number]] for name, one in runs.items()}
