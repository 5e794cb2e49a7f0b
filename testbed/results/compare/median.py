"""Median and confidence interval from a few repeats, without assuming how they are distributed.

Of n repeats in order, the true median lies between the k-th and the (n + 1 - k)-th with a probability that is exact
for every continuous distribution: it is outside only if fewer than k repeats fell on one side of it, and each falls on
either side with probability 1/2 (order statistics; David and Nagaraja, Order Statistics, section 7.1). Three repeats
cannot give 95 %: their smallest to their largest covers 75 %, and that is what is said. Student's t would claim 95 %
from three, on the word that the repeats are normally distributed.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

LEVEL = 0.95  # wanted; six repeats are the fewest that reach it


@dataclass(frozen=True)
class Estimate:
    """The median of the repeats, the interval around it, and with which probability that holds the true median."""

    median: float
    low: float
    high: float
    coverage: float  # 0 for a single repeat: there is no interval
    repeats: int

    @property
    def has_interval(self) -> bool:
        """Whether there were at least two repeats, all of them known."""
        return self.coverage > 0 and not math.isnan(self.low)


def estimate(values: Sequence[float], level: float = LEVEL) -> Estimate:
    """Nan if any of the repeats is: one that is unknown may have been the worst, so it is not left out."""
    n = len(values)
    if n == 0 or any(math.isnan(value) for value in values):
        return Estimate(math.nan, math.nan, math.nan, 0.0, n)
    ordered = sorted(values)
    k = rank(n, level)
    return Estimate(statistics.median(ordered), ordered[k - 1], ordered[n - k], coverage(n, k), n)


def coverage(n: int, k: int = 1) -> float:
    """Probability that the median lies between the k-th smallest and the k-th largest of n."""
    outside: float = 2 * sum(math.comb(n, i) for i in range(k)) / float(2**n)
    return max(0.0, 1 - outside)


def rank(n: int, level: float = LEVEL) -> int:
    """The narrowest interval that still covers the level, or else from the smallest to the largest."""
    return max((k for k in range(1, (n + 1) // 2 + 1) if coverage(n, k) >= level), default=1)
