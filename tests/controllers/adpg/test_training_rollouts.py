"""What a policy is trained on: sequences that it caused."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from testbed_controllers.adpg.loss import sequences
from testbed_controllers.adpg.training_rollouts import ENOUGH, Environments
from testbed_controllers.adpg.training_settings import Settings

from tests.controllers.adpg.by_hand import network


def test_environments_give_sequences_that_the_policy_caused() -> None:
    settings = Settings(senders=(2,), copies=2, start_window="0 s")
    policy = network({1: 1.0, 3: 1.0}, -0.5)  # slows down where there is congestion
    one = Environments(settings, seed=3)
    one.collect(policy)  # the start at line rate
    features, there = sequences(one.collect(policy))
    assert there.sum(1).max() >= ENOUGH
    assert features[..., 3].min() >= -0.8
    assert features[..., 3].max() <= 8.0
    for flow, valid in zip(features, there.astype(bool), strict=True):
        for before, after in pairwise(flow[valid]):
            np.testing.assert_array_equal(after[[0, 1]], before[[2, 3]])
            assert after[2] == pytest.approx(policy.decide(before[None])[0], rel=1e-12)
