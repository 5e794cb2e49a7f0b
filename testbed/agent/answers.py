"""When whoever decides for many flows at once has waited long enough (gather.c)."""

from __future__ import annotations

import ctypes

import numpy as np

from testbed.agent.columns import Flows
from testbed.agent.structs import CAnswers
from testbed.base.arrays import Ints


class Answers:
    """Which flows were answered: all that they had sent when they decided came back, or was lost."""

    def __init__(self, flows: Flows) -> None:
        self._sent = flows.sent
        self._decided_at = np.zeros(len(flows), np.int64)  # `sent` when it decided
        self._answered = np.zeros(len(flows), bool)
        self._c = CAnswers(
            self._decided_at.ctypes.data, self._answered.ctypes.data, 0, -1.0, np.inf
        )  # not waited for yet
        self.address = ctypes.addressof(self._c)

    def expect(self, flows: Ints) -> None:
        """These flows decide now."""
        self._decided_at[flows] = self._sent[flows]
        self._answered[flows] = False
        self._c.count = int(np.count_nonzero(self._answered))

    def late(self, now: float) -> bool:
        """Whether half of those that are waited for were answered half of the time ago."""
        return bool(now >= 2 * self._c.half_at - self._c.began)
