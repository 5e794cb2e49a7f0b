"""What a training reaches, and that it gives the same again."""

from __future__ import annotations

import numpy as np
import pytest
from testbed_controllers.adpg.evaluate import many_to_one, ramp
from testbed_controllers.adpg.training import CHECK_EVERY, NEXT_SEED, train
from testbed_controllers.adpg.training_settings import Settings

from tests.controllers.adpg.by_hand import oracle


def test_a_short_training_helps_and_gives_the_same_again() -> None:
    pytest.importorskip("torch")
    settings = Settings(updates=2 * CHECK_EVERY, attempts=1, seed=4)
    first, again = train(settings), train(settings)
    assert first.best.score < first.history[0].score
    assert [one.score for one in first.history] == [one.score for one in again.history]
    for layer, same in zip(first.network.layers, again.network.layers, strict=True):
        np.testing.assert_array_equal(layer, same)


def test_a_full_training_reaches_the_oracle() -> None:
    pytest.importorskip("torch")
    outcome = train(Settings(seed=2))
    assert len(outcome.attempts) == 1
    for flows in (2, 4, 8, 64):
        seen = many_to_one(outcome.network, flows, warmup=20e-3, duration=40e-3)
        assert seen.queue == pytest.approx(oracle(flows), rel=0.05)
        assert seen.su > 99
        assert seen.fr > 0.95
        assert seen.dropped == 0
    assert ramp(outcome.network) <= 450


def test_next_seeds_are_tried_while_the_policy_fails() -> None:
    pytest.importorskip("torch")
    outcome = train(Settings(updates=CHECK_EVERY, attempts=2, seed=1))  # too short for anything
    assert [one.seed for one in outcome.attempts] == [1, 1 + NEXT_SEED]
    assert all(one.failure for one in outcome.attempts)
    assert outcome.best.score == min(one.best.score for one in outcome.attempts)
