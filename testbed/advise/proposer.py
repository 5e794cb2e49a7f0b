"""Which candidates are tried next: those that are expected to gain most and to hold the constraints.

Of some hundred, by chance and around the best, the ones with the highest expected improvement times the probability
that all constraints hold (Gardner et al., Bayesian Optimization with Inequality Constraints, ICML 2014), by surfaces
through what was tried. They are chosen one after another, each as if those before it had come out as expected.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from testbed.advise.evidence import Settings
from testbed.advise.space import Space
from testbed.advise.standing import Standing
from testbed.advise.surface import Array, Surface

ANYWHERE = 192  # candidates by chance
BEST, AROUND = 6, 16  # and around each of so many so many
STEP, MOVED = 0.12, 0.6  # how far, of a range; and the share of the knobs
CLEAR = 0.1  # a relative margin of a constraint from which on it matters little how large it is
LITTLE = 3  # candidates, from which on there is a surface

_erf = np.vectorize(math.erf, otypes=[float])


@dataclass(frozen=True)
class Expected:
    """Where most is expected; by chance while too little is known."""

    space: Space
    seed: int

    def __call__(self, tried: Sequence[Standing], size: int) -> list[Settings]:
        """At most so many, none of them tried."""
        known = [one for one in {one.candidate: one for one in tried}.values() if one.gains]
        chance = np.random.default_rng([self.seed, len(tried)])
        had = {one.candidate for one in tried}
        pool = [one for one in dict.fromkeys(self._pool(known, chance)) if one not in had]
        return pool[:size] if len(known) < LITTLE else self._chosen(known, pool, size)

    def _chosen(self, known: Sequence[Standing], pool: list[Settings], size: int) -> list[Settings]:
        places, there = (np.array([self.space.place(one) for one in each])
                         for each in ([one.candidate for one in known], pool))  # fmt: skip
        draws = np.array([float(len(one.gains)) for one in known])
        gain = Surface.through(places, np.array([one.gain for one in known]), draws)
        whole = draws == draws.max()
        margins = np.array([_bounded(one.margin) for one in known])
        said = whole | (margins < 0)  # what held in its first draw may break in another
        hold = Surface.through(places[said], margins[said], np.ones(said.sum()))  # the least of the draws, not a mean
        held = gain.at(places)[0][whole & (margins >= 0)]
        best = float(held.max()) if held.size else math.inf
        chosen: list[int] = []
        while len(chosen) < min(size, len(pool)):
            if chosen:
                gain, hold = (one.supposing(there[chosen[-1]]) for one in (gain, hold))
            score = _improvement(*gain.at(there), best) * _above(*hold.at(there))
            score[chosen] = -1.0
            chosen.append(int(score.argmax()))
        return [pool[one] for one in chosen]

    def _pool(self, known: Sequence[Standing], chance: np.random.Generator) -> Iterator[Settings]:
        width = len(self.space.knobs)
        for place in chance.random((ANYWHERE, width)):
            yield self.space.at(place)
        for one in sorted(known, key=lambda one: (one.margin < 0, -one.gain))[:BEST]:
            moved = chance.normal(0, STEP, (AROUND, width)) * (chance.random((AROUND, width)) < MOVED)
            for place in np.clip(self.space.place(one.candidate) + moved, 0, 1):
                yield self.space.at(place)


def _bounded(margin: float) -> float:
    return margin / (CLEAR + abs(margin)) if math.isfinite(margin) else 1.0


def _above(mean: Array, spread: Array) -> Array:
    """The probability that it is at least 0."""
    found: Array = (1 + _erf(mean / spread / math.sqrt(2))) / 2
    return found


def _improvement(mean: Array, spread: Array, best: float) -> Array:
    """Expected, over the best; 1 if there is none, so that what holds the constraints is looked for."""
    if math.isinf(best):
        return np.ones(len(mean))
    ahead = (mean - best) / spread
    found: Array = spread * (ahead * _above(ahead, np.ones(1)) + np.exp(-np.square(ahead) / 2) / math.sqrt(2 * math.pi))
    return found
