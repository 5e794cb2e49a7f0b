"""What the controller listens to."""

from __future__ import annotations

import numpy as np

from testbed.controller import Feedback
from tests.support.rows import controller, paths


def test_what_was_sent_before_the_last_decision_does_not_count() -> None:
    one = controller("adpg", paths(1), "paper")
    flows, nothing = np.array([0]), np.zeros(1, np.int64)

    def told(acked: int, following: int) -> float:
        rtt = np.array([50e-6])
        counts = (nothing + 1, nothing + 1000, nothing + acked, nothing + following)
        one.on_feedback(1e-6, flows, Feedback(*counts, nothing, rtt, nothing, nothing, nothing, nothing))
        return float(one.share[0])

    first = told(0, 10)
    assert first < 1
    assert told(8, 12) == first
    assert told(9, 20) < first
