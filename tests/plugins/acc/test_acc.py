"""ACC's step reward, busy and idle queues, replay and double DQN, by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from pydantic import ValidationError
from testbed_plugins.acc.ddqn import Ddqn, DdqnSettings
from testbed_plugins.acc.idle import STILL, Idle
from testbed_plugins.acc.replay import Replay, Transitions
from testbed_plugins.acc.reward import reward
from testbed_plugins.acc.settings import Settings

from testbed.tuner import Thresholds
from tests.support.slots import ports, slot, tuner

SECN2 = Thresholds.uniform(3, 100e3, 400e3, 0.2)


def test_reward_falls_in_steps() -> None:
    """D = 1 - n / 10 for E(n - 1) <= queue < E(n): 0 steps below 20 kB, 1 from there, 10 from 10.24 MB on."""
    queue = [0.0, 20e3 - 1, 20e3, 40e3, 10.24e6, 1e9]
    sample = slot(Thresholds.uniform(6, 1e5, 4e5, 0.2), mean_queue=queue)
    assert reward(sample, ports(6), (0.3, 0.7)) == pytest.approx([0.7, 0.7, 0.63, 0.56, 0.0, 0.0])


def test_reward_grows_with_the_rate() -> None:
    assert reward(slot(SECN2, tx_rate=[0, 12.5e9, 25e9]), ports(), (0.7, 0.3)) == pytest.approx([0.3, 0.65, 1.0])


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


def test_replay_keeps_the_newest() -> None:
    replay = Replay(4, 1)
    for number in range(3):
        values = np.array([2 * number, 2 * number + 1])
        replay.add(Transitions(values[:, None], values, values, values[:, None]))
    assert len(replay) == 4
    assert set(replay.draw(200, np.random.default_rng(1)).actions.tolist()) == {2, 3, 4, 5}


def test_double_dqn_finds_what_is_paid_and_never_what_is_masked() -> None:
    valid = np.array([True, True, True, False])
    learner = Ddqn(2, valid, DdqnSettings(rate=5e-3, batch=64, shared=0.5), seed=1)
    shared, features = Replay(1000, 2), np.ones((32, 2))
    for number in range(150):
        actions = learner.act(features, 1 - number / 100)
        rows = Transitions(features, actions, (actions == 2).astype(float), features)
        learner.local.add(rows)
        shared.add(rows)
        learner.learn(shared)
        assert actions.max() < 3
    assert (learner.act(features, 0.0) == 2).all()


@pytest.mark.parametrize("options", [{"batch": 512, "memory": 256}, {"slots": 10}])
def test_a_training_that_would_never_learn_is_refused(options: dict[str, int]) -> None:
    with pytest.raises(ValidationError, match="nothing would be learned"):
        Settings(**options)
