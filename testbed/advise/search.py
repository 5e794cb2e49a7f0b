"""Searches on its half of the draws: runs what is proposed, and stops early what is not worth more runs.

A candidate has its first draw run first. It has the others only if it comes near the best one there, of those that hold
the constraints in all draws (the present configuration is one, if it does), and breaks none there if there is such a
one. What held in its first draw alone stops nobody: the best of many are lucky there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from testbed.advise.budget import Budget, Spent
from testbed.advise.evidence import Settings
from testbed.advise.standing import Beside, Standing

Propose = Callable[[Sequence[Standing], int], list[Settings]]

BATCH = 4  # for `--runs` whatever the number of cores, so that the answer is the same on every machine
NEAR = 0.05  # of gain, behind the best in the first draw: what is further away stops there
REPEATED = 6  # batches without a new candidate: there are no more


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
    propose: Propose, beside: Beside, draws: Sequence[int], budget: Budget, starts: Sequence[Settings],
    *, batch: int = BATCH,
) -> History:  # fmt: skip
    """Until the budget is used up. ``starts``: candidates that are tried first."""
    tried: list[Tried] = []
    idle, each = 0, len(draws) * len(beside.names)
    waiting = list(dict.fromkeys(starts))
    while idle < REPEATED and (size := budget.fits(beside.evidence.runs, each, batch, beside.evidence.run)):
        before, next_ = beside.evidence.runs, waiting[:size]
        waiting = waiting[size:]
        if len(next_) < size:
            next_ += propose([one.standing for one in tried], size - len(next_))
        try:
            tried += _batch(next_, beside, draws, tried)
        except Spent:
            break
        idle = idle + 1 if beside.evidence.runs == before else 0
    return History(tried, len(draws))


def _batch(candidates: Sequence[Settings], beside: Beside, draws: Sequence[int], tried: Sequence[Tried]) -> list[Tried]:
    first = beside.stand(candidates, draws[:1])
    whole = [*beside.stand([()], draws), *(one.standing for one in tried if one.draws == len(draws))]
    held = [one for one in whole if one.gains and not one.strained]
    best = max((one.gains[0] for one in held), default=0.0)
    near = [
        one.candidate
        for one in first
        if not one.candidate or (one.gains and one.gains[0] > max(best, 0.0) - NEAR and not (held and one.strained))
    ]
    rest = dict(zip(near, beside.stand(near, draws), strict=True)) if len(draws) > 1 else {}
    runs = beside.evidence.runs
    return [Tried(rest.get(one.candidate, one), len(draws) if one.candidate in rest else 1, runs) for one in first]
