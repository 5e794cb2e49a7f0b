"""DECC's reward, in shares of the line rate and in base RTTs (equations 3 to 8 of the paper, register 26, 27, 51, 52).

Three things are not as printed, for printed they reward what the text calls bad, or nothing: latency counts above
1.1 base RTTs; unfairness and instability are penalties; unfairness is relative to the mean throughput, or it would
vanish with many flows. "P_rate_max" is read as the line rate's share, 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from testbed.base.arrays import Floats

C0, C1, C2, C3, C4 = 0.1, 0.02, 1.0, 0.02, 0.01
FREE = 1.1  # base RTTs without a penalty: 1 + b
LIMIT = 0.1
NOTHING = 1e-9
LEAST_MEAN = 1e-3  # of a flow's throughput, where it divides


@dataclass(frozen=True)
class Period:
    """One monitoring period of m bottlenecks of n flows. ``each`` flow stands for so many alike, shape (m, 1)."""

    thr: Floats  # shares of the line rate in the last 5 periods, shape (5, m, n); flows that there are not: 0
    inflation: Floats  # RTT over base RTT, shape (m, n)
    loss: Floats  # lost over delivered, shape (m, n)
    there: Floats  # 1 where there is a flow, else 0, shape (m, n)
    each: Floats

    @property
    def flows(self) -> Floats:
        """Shape (m,)."""
        return np.asarray(self.there.sum(axis=1))

    def mean(self, column: Floats) -> Floats:
        """Over a bottleneck's flows, shape (m,)."""
        return np.asarray((column * self.there).sum(axis=1) / self.flows)


def rewards(period: Period, own_fairness: float = 1.0) -> tuple[Floats, Floats]:
    """The shared reward, shape (m,), and each flow's own credit, shape (m, n), both from -0.1 to 0.1.

    Own credit has the same terms, but the flow's own distance from the mean and its own instability, whose gradient in
    one flow's actions does not fall with the number of flows. ``own_fairness`` times c3 weighs that distance.
    """
    average = period.thr.mean(axis=0)
    mean = period.mean(average)
    common = C0 * (period.thr[-1] * period.there * period.each).sum(axis=1)
    common = common - C1 * np.maximum(period.mean(period.inflation) - FREE, 0.0) - C2 * period.mean(period.loss)
    apart = (average - mean[:, None]) / np.maximum(mean[:, None], NOTHING)
    restless = period.thr.std(axis=0) / np.maximum(average, LEAST_MEAN)
    unfair = np.sqrt(period.mean(apart**2))
    shared = common - C3 * unfair - C4 * period.mean(restless)
    own = common[:, None] - own_fairness * C3 * np.abs(apart) - C4 * restless
    return np.clip(shared, -LIMIT, LIMIT), np.clip(own, -LIMIT, LIMIT)
