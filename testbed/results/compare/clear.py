"""What is called better, worse or equal: the data's intervals decide, and no fixed difference.

Two variants differ in a figure if the intervals of their medians (`testbed.results.compare.median`) have nothing in
common. Two whose repeats are drawn from one distribution would be apart as well now and then: how often is exact for
every continuous distribution, as all orders of their repeats are equally likely. With 3 repeats of each it is 10 %;
with fewer it is more often, and then nothing is said.
"""

from __future__ import annotations

import math
from typing import Literal

from testbed.results.compare.median import Estimate, rank
from testbed.results.figures.registry import Figure

Clear = Literal["better", "worse", "equal", ""]  # empty: the repeats are too few, or one of the two is not known

MOST_CHANCE = 0.1
NOTEWORTHY = 0.01  # relative difference: nobody chooses a controller for less


def compared(metric: Figure, one: Estimate, other: Estimate) -> Clear:
    """What ``one`` is beside the other."""
    if math.isnan(one.median) or math.isnan(other.median) or chance(one.repeats, other.repeats) > MOST_CHANCE:
        return ""
    apart = one.low > other.high or one.high < other.low
    if not apart or abs(one.median - other.median) <= NOTEWORTHY * abs(other.median):
        return "equal"
    return metric.judge(one.median, other.median)


def chance(n: int, m: int) -> float:
    """Probability that the intervals of n and m repeats are apart though both are of one distribution."""
    if not n or not m:
        return 1.0
    return _below(n, m) + _below(m, n)


def _below(n: int, m: int) -> float:
    """That the upper end of n's interval, the a-th of its repeats, has fewer of the other m below it than it takes."""
    a, most = n + 1 - rank(n), rank(m)
    orders = sum(math.comb(a - 1 + i, i) * math.comb(n - a + m - i, m - i) for i in range(most))
    return orders / math.comb(n + m, n)
