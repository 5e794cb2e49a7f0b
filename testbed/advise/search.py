"""Searches on its half of the draws: asks an optimiser, runs what it proposes, tells it what came of it.

Optuna's tree-structured Parzen estimator: it takes constraints, ranges, lists and batches, needs numpy alone, and is
kept well; docs/howto/advise.md has what it finds beside chance and full grids. A batch has as many candidates whatever
the number of cores, so that with `--runs` the answer is the same on every machine.

A candidate has its first draw run first, and the others only if it comes near the best one there, also of its batch.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from testbed.advise.budget import Budget
from testbed.advise.evidence import Settings
from testbed.advise.space import Space
from testbed.advise.standing import Beside, Standing

if TYPE_CHECKING:
    import optuna

BATCH = 8
NEAR = 0.05  # of gain, behind the best in the first draw: what is further away stops there
REPEATED = 6  # batches without a new candidate: there are no more
LOST = -10.0  # a gain for the optimiser of what could not run


@dataclass(frozen=True)
class Tried:
    """A candidate of the search: how it stood, on so many draws, after how many runs."""

    standing: Standing
    draws: int
    runs: int


@dataclass(frozen=True)
class History:
    """All that were tried, in order; ``draws`` is how many a candidate has that was not stopped."""

    tried: Sequence[Tried]
    draws: int

    @property
    def whole(self) -> list[Standing]:
        """Those that ran in all draws and may be advised, the best first, behind all others the strained ones."""
        found = {one.standing.candidate: one.standing for one in self.tried if one.draws == self.draws}
        return sorted((one for one in found.values() if one.allowed), key=lambda one: (one.strained, -one.gain))

    def best(self) -> list[float]:
        """The gain of the best so far, after each candidate; at least 0, for nothing must be changed."""
        so_far, found = 0.0, []
        for one in self.tried:
            if one.draws == self.draws and one.standing.allowed and not one.standing.strained:
                so_far = max(so_far, one.standing.gain)
            found.append(so_far)
        return found


def search(
    space: Space, beside: Beside, draws: Sequence[int], budget: Budget, starts: Sequence[Settings] = (),
    *, seed: int = 1, sampler: str = "tpe",
) -> History:  # fmt: skip
    """Until the budget is used up. ``starts``: candidates that are tried first."""
    study = _study(sampler, seed)
    for start in starts:
        if (positions := space.positions(start)) is not None:
            study.enqueue_trial(positions, skip_if_exists=True)
    tried: list[Tried] = []
    idle = 0
    each = len(draws) * len(beside.names)
    while idle < REPEATED and (size := budget.fits(beside.evidence.runs, each, BATCH, beside.evidence.run)):
        before = beside.evidence.runs
        trials = [study.ask(_distributions(space)) for _ in range(size)]
        standings = _batch([space.at(one.params) for one in trials], beside, draws, tried)
        for trial, one in zip(trials, standings, strict=True):
            trial.set_constraint("strained", one.standing.strained if one.standing.gains else 1.0)
            study.tell(trial, one.standing.gain if math.isfinite(one.standing.gain) else LOST)
        tried += standings
        idle = idle + 1 if beside.evidence.runs == before else 0
    return History(tried, len(draws))


def _batch(candidates: Sequence[Settings], beside: Beside, draws: Sequence[int], tried: Sequence[Tried]) -> list[Tried]:
    first = beside.stand(candidates, draws[:1])
    whole = [one.standing for one in tried if one.draws == len(draws)]
    best = max((one.gains[0] for one in (*whole, *first) if one.gains and not one.strained), default=0.0)
    near = [one.candidate for one in first if one.gains and one.gains[0] > max(best, 0.0) - NEAR]
    rest = dict(zip(near, beside.stand(near, draws), strict=True)) if len(draws) > 1 else {}
    runs = beside.evidence.runs
    return [Tried(rest.get(one.candidate, one), len(draws) if one.candidate in rest else 1, runs) for one in first]


def _study(sampler: str, seed: int) -> optuna.Study:
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    made = (
        optuna.samplers.TPESampler(seed=seed, multivariate=True, n_startup_trials=BATCH)
        if sampler == "tpe"
        else optuna.samplers.RandomSampler(seed=seed)
    )
    return optuna.create_study(direction="maximize", sampler=made)


def _distributions(space: Space) -> dict[str, Any]:
    import optuna

    found: dict[str, Any] = {}
    for knob in space.knobs:
        if knob.choices:
            found[knob.key] = optuna.distributions.IntDistribution(0, len(knob.choices) - 1)
        else:
            found[knob.key] = optuna.distributions.FloatDistribution(knob.low, knob.high, log=knob.log)
    return found
