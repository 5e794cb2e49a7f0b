"""One batch, over and over: the critics go to r + gamma Q' (the printed error has a wrong sign), the actor climbs Q."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from testbed_controllers.decc.observation import FEATURES

from tests.support.lazily import Lazily

torch, networks = Lazily("torch"), Lazily("testbed_controllers.decc.networks")
maddpg = Lazily("testbed_controllers.decc.maddpg")

FUTURE, REWARD = 5.0, 0.05


def batch() -> Any:
    rng, replay, size, shared = np.random.default_rng(1), maddpg.Replay(), maddpg.BATCH, networks.SHARED
    rows = [rng.normal(0, 0.5, (size, width)) for width in (shared, FEATURES, shared, FEATURES)]
    action = rng.uniform(-0.5, 0.5, (size, 1))
    replay.add(rows[0], rows[1], action, np.full((size, 1), REWARD), rows[2], rows[3])
    return replay.sample(rng, size)


@pytest.fixture
def learner() -> Any:
    torch.manual_seed(1)
    torch.set_num_threads(1)
    return maddpg.Learner(1e-3, 1e-3)


def test_critics_go_to_the_reward_and_what_follows(learner: Any) -> None:
    """10 r + 0.98 Q' with Q' = 5: 5.4."""
    with torch.no_grad():
        for twin in learner.slow_critics.twins:
            twin[-1].weight.zero_()
            twin[-1].bias.fill_(FUTURE)
    columns = batch()
    for _ in range(150):
        learner.update(columns, teach_actor=False)
        with torch.no_grad():
            for twin in learner.slow_critics.twins:
                twin[-1].weight.zero_()
                twin[-1].bias.fill_(FUTURE)
    estimate = learner.critics(columns[0], columns[1], columns[2][:, 0])
    assert estimate.mean().item() == pytest.approx(10 * REWARD + 0.98 * FUTURE, abs=0.2)


def test_the_actor_climbs_and_its_target_follows(learner: Any) -> None:
    learner.slow_down(1e-3, 0.0)
    columns, before = batch(), learner.slow_actor.network()

    def worth() -> float:
        with torch.no_grad():
            return float(learner.critics(columns[0], columns[1], learner.actor(columns[1]))[0].mean())

    started = worth()
    for _ in range(200):
        learner.update(columns, teach_actor=True)
    assert worth() > started
    assert not np.array_equal(before.weights[0], learner.slow_actor.network().weights[0])
