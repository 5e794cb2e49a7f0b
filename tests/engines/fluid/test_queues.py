"""Queues of the model: nothing is lost but what is counted, and what joins is marked."""

from __future__ import annotations

import numpy as np
import pytest

from testbed.engines.fluid.layout import incast
from testbed.engines.fluid.queues import Queues

STEP = 1e-6
PER_STEP = 100e9 / 8 * STEP  # bytes that a queue sends


def test_what_is_sent_arrives_half_a_round_trip_later_and_all_of_it_is_somewhere() -> None:
    queues = Queues(incast(2, base_rtt=8 * STEP, buffer=4 * PER_STEP), STEP)
    queues.enter(np.array([5 * PER_STEP, 2 * PER_STEP]))
    for _ in range(4):
        queues.drain()
        assert queues.arrived[0] == 0
    queues.drain()
    assert queues.arrived[0] == pytest.approx(7 * PER_STEP)
    assert queues.dropped[0] == pytest.approx(2 * PER_STEP)  # one of seven leaves, four fit
    for left in (4, 3, 2, 1, 0, 0):
        assert queues.now[0] == pytest.approx(left * PER_STEP)
        assert queues.arrived[0] == pytest.approx(queues.now[0] + queues.left[0] + queues.dropped[0])
        queues.drain()
    assert queues.left[0] == pytest.approx(5 * PER_STEP)


def test_what_is_dropped_is_not_marked() -> None:
    queues = Queues(incast(2, base_rtt=2 * STEP, buffer=2 * PER_STEP), STEP, (0.5 * PER_STEP, PER_STEP, 1.0))
    for _ in range(4):
        queues.enter(np.full(2, 4 * PER_STEP))
        queues.drain()
    # The first arrivals find no queue. The queue is full afterwards: a step's worth joins, and all of it is marked.
    assert queues.arrived[0] == pytest.approx(3 * 8 * PER_STEP)
    assert queues.dropped[0] == pytest.approx((5 + 7 + 7) * PER_STEP)
    assert queues.marked[0] == pytest.approx(2 * PER_STEP)
