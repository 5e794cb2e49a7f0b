"""Keeps online training from doing harm: static thresholds take over when the reward falls below theirs.

The run begins with static thresholds, whose reward is the reference. Later it is measured anew in every fall: traffic
which is harder for everybody must not look like a bad policy again and again.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

WINDOW = 32  # slots that are averaged over
MOST_FALLS = 6  # each lasts twice as long as the one before it, up to here


class Guard:
    """Follows the reward of every slot; `static` is whether the static thresholds are active."""

    def __init__(self, bound: float) -> None:
        self.bound = bound
        self.static = True
        self.falls = 0
        self.reference = -np.inf  # reward of the static thresholds, when they were last active
        self._rewards: list[float] = []

    def look(self, reward: float) -> bool:
        """The slot that ended gained so much. True if the policy has just failed."""
        self._rewards.append(reward)
        lasts = WINDOW << min(max(self.falls - 1, 0), MOST_FALLS - 1) if self.static else WINDOW
        if len(self._rewards) < lasts:
            return False
        newest, self._rewards = mean(self._rewards[-WINDOW:]), []
        if self.static:
            self.static, self.reference = False, newest
            return False
        if newest >= (1 - self.bound) * self.reference:
            return False
        self.static, self.falls = True, self.falls + 1
        return True


def mean(rewards: Sequence[float]) -> float:
    """Of the last slots."""
    return float(np.mean(rewards))
