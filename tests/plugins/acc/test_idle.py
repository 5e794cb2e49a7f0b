"""Idle queues: which they are, and that they keep their thresholds."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from testbed_plugins.acc.idle import STILL, Idle

from tests.support.slots import SECN2, ports, slot, tuner


def test_a_queue_below_kmin_whose_reward_stays_is_idle_after_three_slots() -> None:
    idle, rewards = Idle(3), np.array([0.7, 0.7, 0.7])
    sample = slot(SECN2, queue=[0.0, 200e3, 0.0])
    found = []
    for _ in range(STILL + 1):
        rewards = rewards + np.array([0, 0, 0.1])  # the third one's changes
        found.append(idle.after(sample, rewards).tolist())
    assert found == [[False] * 3] * STILL + [[True, False, False]]
    assert not idle.after(slot(SECN2, queue=200e3), rewards).any()


def test_idle_queues_keep_their_thresholds(tmp_path: Path) -> None:
    one = tuner("acc", tmp_path, {0: 1.0}, ports())
    for _ in range(STILL + 2):
        decided = one.on_slot(0.0, slot(one.initial()))
    assert decided.kmin.tolist() == [20e3] * 3
    one.policy.scores = lambda features: np.eye(840)[[500] * len(features)]
    assert one.on_slot(0.0, slot(decided)).kmin.tolist() == [20e3] * 3
    assert (one.on_slot(0.0, slot(decided, queue=1e6)).kmin > 20e3).all()
