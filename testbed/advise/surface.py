"""A Gaussian process: what is known of a figure everywhere in the space of candidates, from a few that were measured.

Matérn's covariance (nu = 5/2) with a length for each knob. Lengths and noise are those under which what was measured is
most likely (Rasmussen and Williams, Gaussian Processes for Machine Learning, chapters 2, 4 and 5).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

LENGTHS = (0.1, 0.2, 0.4, 0.8, 1.6, 3.2)  # of the width of a knob's range
USUAL = 0.6  # a length; others are less likely by the square of their logarithm
NOISES = (1e-4, 1e-3, 1e-2, 0.03, 0.1, 0.3, 1.0)  # variance of one draw, of the figure's own
LEAST = 1e-6  # of noise: several may be measured at one place


@dataclass(frozen=True)
class Surface:
    """Through values at places in the unit cube; ``draws``: how many each is the mean of."""

    places: Array
    values: Array
    draws: Array
    lengths: Array
    noise: float

    @classmethod
    def through(cls, places: Array, values: Array, draws: Array) -> Surface:
        """The most likely one."""
        found = cls(places, values, draws, np.full(places.shape[1], 0.4), 0.03)
        for knob in range(places.shape[1]):
            each = np.tile(found.lengths, (len(LENGTHS), 1))
            each[:, knob] = LENGTHS
            unusual = np.square(np.log(each / USUAL)).sum(axis=1)
            likely = found._likelihoods(each[:, None], np.array(found.noise)) - unusual / 2
            found = replace(found, lengths=each[likely.argmax()])
        likely = found._likelihoods(found.lengths, np.array(NOISES)[:, None])
        return replace(found, noise=NOISES[likely.argmax()])

    def at(self, places: Array) -> tuple[Array, Array]:
        """What is expected at other places, and its standard deviation."""
        near = _covariance(self.places, places, self.lengths)
        known = np.linalg.solve(self._root, near)
        spread = np.sqrt(np.maximum(1 - np.square(known).sum(axis=0), LEAST))
        return self._mean + self._scale * (known.T @ self._white), self._scale * spread

    def supposing(self, place: Array) -> Surface:
        """As if it had been measured there too, and had come out as expected."""
        (expected,), _ = self.at(place[None])
        return replace(
            self, places=np.vstack([self.places, place]), values=np.append(self.values, expected),
            draws=np.append(self.draws, self.draws.max()),
        )  # fmt: skip

    def _likelihoods(self, lengths: Array, noises: Array) -> Array:
        """Their logarithms, but for what is the same for all."""
        factors = self._factors(lengths, noises)
        roots = np.diagonal(factors[..., :-1, :-1], axis1=-2, axis2=-1)
        found: Array = -np.square(factors[..., -1, :-1]).sum(axis=-1) / 2 - np.log(roots).sum(axis=-1)
        return found

    def _factors(self, lengths: Array, noises: Array) -> Array:
        """Cholesky's, with the values as a last row, which it solves for; the corner changes nothing else."""
        count = np.arange(len(self.values))
        found = np.empty((*np.broadcast_shapes(lengths.shape[:-2], noises.shape[:-1]), len(count) + 1, len(count) + 1))
        found[..., :-1, :-1] = _covariance(self.places, self.places, lengths)
        found[..., count, count] += noises / self.draws + LEAST
        found[..., -1, :-1] = (self.values - self._mean) / self._scale  # the lower half is all that is read
        found[..., -1, -1] = np.finfo(float).max
        return np.linalg.cholesky(found).astype(float, copy=False)

    @cached_property
    def _factor(self) -> Array:
        return self._factors(self.lengths, np.array(self.noise))

    @property
    def _root(self) -> Array:
        return self._factor[:-1, :-1]

    @property
    def _white(self) -> Array:
        """The values as independent standard normal ones."""
        return self._factor[-1, :-1]

    @cached_property
    def _mean(self) -> float:
        return float(self.values.mean())

    @cached_property
    def _scale(self) -> float:
        return float(self.values.std()) or 1.0


def _covariance(one: Array, other: Array, lengths: Array) -> Array:
    one, other = one / lengths, other / lengths
    squares = np.square(one).sum(axis=-1)[..., None] + np.square(other).sum(axis=-1)[..., None, :]
    squares -= 2 * one @ np.swapaxes(other, -1, -2)
    distance = np.sqrt(5 * np.maximum(squares, 0, out=squares), out=squares)
    found: Array = 1 + distance + np.square(distance) / 3
    found *= np.exp(-distance)
    return found
