"""Queues of the model: RED's law, and nothing is lost but what is counted."""

from __future__ import annotations

import numpy as np
import pytest

from testbed.engines.fluid.layout import incast
from testbed.engines.fluid.queues import Queues, mark_share

STEP = 1e-6
PER_STEP = 100e9 / 8 * STEP  # bytes that a queue sends


def test_marks_follow_red() -> None:
    queue = np.array([0.0, 100.0, 150.0, 200.0, 200.1])
    red = (np.full(5, value) for value in (100.0, 200.0, 0.2))
    assert mark_share(queue, *red) == pytest.approx([0, 0, 0.1, 0.2, 1])


def test_equal_thresholds_are_a_step() -> None:
    queue = np.array([100.0, 100.1])
    assert mark_share(queue, np.full(2, 100.0), np.full(2, 100.0), np.full(2, 0.5)).tolist() == [0, 1]


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
