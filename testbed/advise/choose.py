"""Which candidate is put forward: the best of a few on more draws of the search's half, and of it no more than helps.

The best of many candidates has luck in it. More draws take some of that away, and what is left the check shows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from testbed.advise.evidence import Settings
from testbed.advise.search import History
from testbed.advise.space import Space
from testbed.advise.standing import Beside, Standing

Fits = Callable[[int], bool]  # whether there is time for so many runs of each workload

FINALISTS = 6
ROUNDS = 3  # of so many, until one stands the draws that are new to it
MORE = 2  # times the draws of the search
SPARED = 0.5  # of what makes a change worth it: so much a knob must bring to be changed, and clearly
SHARE = 0.1  # of the gain, that may be lost with all that are spared: few draws are clear about little


def final_draws(draws: Sequence[int]) -> list[int]:
    """Those of the search, and as many that follow."""
    return [draws[0] + number for number in range(MORE * len(draws))]


def runs_of_choice(knobs: int, draws: int, workloads: int) -> int:
    """How many it takes: a round, and what each knob brings, twice, for the best may become another one."""
    return ((FINALISTS + 1) * (MORE - 1) + 2 * knobs * MORE) * draws * workloads


def choose(
    history: History, space: Space, beside: Beside, draws: Sequence[int], worth: float, *, fits: Fits
) -> Standing | None:
    """The one; None if no candidate could be advised that gains anything. A first round there is in any case."""
    (present,) = beside.stand([()], final_draws(draws))
    least = 0.0 if present.allowed else -math.inf  # where constraints do not hold now, what makes them hold may cost
    ahead = [one.candidate for one in history.whole if one.gain > least]
    for at in range(0, ROUNDS * FINALISTS, FINALISTS):
        finalists = ahead[at : at + FINALISTS]
        if not finalists or (at and not fits(len(finalists) * (MORE - 1) * len(draws))):
            break
        again = [one for one in beside.stand(finalists, final_draws(draws)) if one.allowed and one.gain > least]
        if again:
            best = min(again, key=lambda one: (one.strained, -one.gain))
            return _spare(best, space, beside, final_draws(draws), worth, fits=fits)
    return None


def _spare(best: Standing, space: Space, beside: Beside, draws: Sequence[int], worth: float, *, fits: Fits) -> Standing:
    """Without the knobs whose change brings next to nothing: each that stays must be rolled out and watched."""
    whole = best
    for knob in space.changed(best.candidate):
        kept = [one for one in space.changed(best.candidate) if one.key != knob.key]
        if not kept or not fits(len(draws)):
            break
        (without,) = beside.stand([reduced(best.candidate, kept, space)], draws)
        if without.allowed and _little(whole.gains, without.gains, SPARED * worth):
            best = without
    return best


def _little(whole: Sequence[float], without: Sequence[float], least: float) -> bool:
    """Whether what is lost, draw by draw, is so little, or within two standard errors and a small part of the gain."""
    lost = np.subtract(whole, without)
    unclear = 2 * lost.std(ddof=1) / math.sqrt(len(lost))
    return bool(lost.mean() <= max(least, min(unclear, SHARE * abs(float(np.mean(whole))))))


def reduced(candidate: Settings, knobs: Sequence[object], space: Space) -> Settings:
    """A candidate with the texts of these knobs alone."""
    texts = dict(one.split("=", 1) for one in candidate)
    return space.candidate({one.key: texts[one.key] for one in space.knobs if one in knobs})
