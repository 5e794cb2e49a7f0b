"""Quantiles of times of which some are only known to be longer: of flows that had not finished when the run ended.

Kaplan and Meier, "Nonparametric Estimation from Incomplete Observations" (1958). The quantiles of those that did finish
are those of the quick ones.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from testbed.base.arrays import Floats
from testbed.results.figures.unknown import NAN, quantile


class Censored:
    """``times`` of shape (n,): how long each took, or has taken so far where it is not ``done``."""

    def __init__(self, times: Floats, done: NDArray[np.bool_]) -> None:
        order = np.lexsort((~done, times))
        self._times, self._done = times[order], done[order]

    @property
    def known(self) -> Floats:
        """Of those that are done, ascending."""
        return np.asarray(self._times[self._done])

    def quantile(self, q: float) -> float:
        """What a share ``q`` did not exceed, linear between times; nan where too many have not finished to know."""
        if self._done.all() or not self._done.any():
            return quantile(self.known, q)
        at_risk = np.arange(len(self._times), 0, -1)
        share = (1 - np.cumprod(1 - self._done / at_risk))[self._done]  # that is done by then
        first = share[0]
        if first == 1:
            return float(self.known[0])
        return float(np.interp(q, (share - first) / (1 - first), self.known, right=NAN))
