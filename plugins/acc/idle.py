"""ACC's busy and idle queues: where the queue is below Kmin and nothing changes, no decision is worth its cost."""

from __future__ import annotations

import numpy as np

from testbed.base.arrays import Floats
from testbed.tuner import PortSample

STILL = 3  # slots without a change make a queue idle
SAME = 1e-3  # rewards that differ by less are unchanged


class Idle:
    """Which queues are idle after each slot."""

    def __init__(self, queues: int) -> None:
        self._reward = [np.nan] * queues
        self._still = [0] * queues

    def after(self, sample: PortSample, rewards: Floats) -> np.ndarray:
        """Shape (n,), bool. In plain Python: for so few numbers half a dozen calls of numpy take longer."""
        seen = zip(
            rewards.tolist(), self._reward, sample.queue.tolist(), sample.kmin.tolist(), self._still, strict=True
        )
        self._still = [
            still + 1 if abs(reward - before) < SAME and queue < kmin else 0  # nan is not
            for reward, before, queue, kmin, still in seen
        ]
        self._reward = rewards.tolist()
        return np.array([still >= STILL for still in self._still])
