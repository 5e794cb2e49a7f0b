"""Double DQN on a problem whose answer is known."""

from __future__ import annotations

import numpy as np
from testbed_plugins.acc.ddqn import Ddqn, DdqnSettings
from testbed_plugins.acc.replay import Replay, Transitions


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
