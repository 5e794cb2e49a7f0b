"""How candidates stand beside the present configuration, on the same draws."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from testbed.advise.constraint import Constraint, broken, margins
from testbed.advise.evidence import Ask, Evidence, Found, Settings, must
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
    margin: float = math.inf
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
        why = next((one.why for runs in found.values() for one in runs if one.why), "") or self._doubt(
            found, draws, condition
        )
        if why:
            return Standing(candidate, [], margin=-1.0, why=why)
        now: Runs = {name: [one.figures for one in runs] for name, runs in found.items()}
        each = [bool(broken(self.constraints, _draw(now, one), _draw(was, one))) for one in range(len(draws))]
        return Standing(
            candidate, self.aim.gains(now, was), broken(self.constraints, now, was), strained=sum(each) / len(draws),
            margin=min(margins(self.constraints, now, was)),
        )  # fmt: skip

    def _doubt(self, found: Mapping[str, Sequence[Found]], draws: Sequence[int], condition: Settings) -> str:
        """What makes a run doubtful that is not so now: its figures are partly about something else."""
        for name, runs in found.items():
            before = self.evidence.of([Ask(name, draw, (), condition) for draw in draws])
            for one, had in zip(runs, before, strict=True):
                if new := sorted(one.doubts - had.doubts):
                    return f"its runs are degraded: {new[0]}"
        return ""


def _draw(runs: Runs, number: int) -> Runs:
    return {name: [one[number]] for name, one in runs.items()}
