"""ACC's busy and idle queues: where the queue is below Kmin and nothing changes, no decision is worth its cost."""

from __future__ import annotations

import numpy as np

from testbed.controller import Floats, Ints
from testbed.tuner import PortSample

STILL = 3  # slots without a change make a queue idle
SAME = 1e-3  # rewards that differ by less are unchanged


class Idle:
    """Tells which queues are idle after each slot."""

    def __init__(self, queues: int) -> None:
        self._reward: Floats = np.full(queues, np.nan)
        self._still: Ints = np.zeros(queues, np.int64)

    def after(self, sample: PortSample, rewards: Floats) -> np.ndarray:
        """Shape (n,), bool."""
        same = np.abs(rewards - self._reward) < SAME  # nan is not
        self._still = np.where(same & (sample.queue < sample.kmin), self._still + 1, 0)
        self._reward = rewards
        return np.asarray(self._still >= STILL)
