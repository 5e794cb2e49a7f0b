"""PPO on a problem whose answer is known."""

from __future__ import annotations

import numpy as np
import pytest
from testbed_plugins.pet import grid
from testbed_plugins.pet.decision import Heads
from testbed_plugins.pet.ppo import Ppo, PpoSettings, Trajectories


def test_masked_actions_are_never_drawn_and_have_no_probability() -> None:
    at = grid(20e3)
    heads = Heads(at, np.full(500, 100e3))  # 20, 40 and 80 kB fit: 3 pairs
    learner = Ppo(at, 4, PpoSettings(), seed=1)
    actions, log_prob, _ = learner.act(np.zeros((500, 4)), heads)
    assert set(map(tuple, actions[:, :2].tolist())) == {(0, 1), (0, 2), (1, 2)}
    assert np.isfinite(log_prob).all()
    scores = learner.scores(np.zeros((500, 4)))
    every = at.joint(100e3)
    total = np.exp(learner.log_prob(scores[: len(every)], every, Heads(at, np.full(len(every), 100e3)))).sum()
    assert total == pytest.approx(1.0, abs=1e-6)


def test_learns_which_kmin_is_paid() -> None:
    """A bandit: reward 1 for Kmin = E(3), 0 otherwise. Its probability rises far above that at the start."""
    at, n = grid(20e3), 64
    heads = Heads(at, np.full(n, 12e6))
    learner = Ppo(at, 4, PpoSettings(actor_rate=3e-3, gamma=0.0), seed=3)
    features = np.ones((n, 4))
    shares = []
    for _ in range(40):
        actions, log_prob, values = learner.act(features, heads)
        paid = (actions[:, 0] == 3).astype(float)
        seen = (features, actions, log_prob, paid, values)
        learner.update(Trajectories(*(one[None] for one in seen), learner.values(features)), heads, 0.0)
        shares.append(paid.mean())
    assert np.mean(shares[:2]) < 0.4
    assert np.mean(shares[-5:]) > 0.8


def test_a_row_that_is_left_over_alone_is_left_out() -> None:
    """Advantages are scaled by their deviation, and one has none: all weights would be nan."""
    n = 3
    heads, features = Heads(grid(20e3), np.full(n, 12e6)), np.ones((n, 4))
    learner = Ppo(grid(20e3), 4, PpoSettings(batch=2), seed=1)
    actions, log_prob, values = learner.act(features, heads)
    seen = (features, actions, log_prob, np.arange(n, dtype=float), values)
    learner.update(Trajectories(*(one[None] for one in seen), learner.values(features)), heads, 0.0)
    assert np.isfinite(learner.scores(features)).all()


def test_same_seed_same_learner_and_another_another() -> None:
    def drawn(seed: int) -> list[list[int]]:
        return (
            Ppo(grid(20e3), 4, PpoSettings(), seed)
            .act(np.ones((50, 4)), Heads(grid(20e3), np.full(50, 5e6)))[0]
            .tolist()
        )

    assert drawn(1) == drawn(1)
    assert drawn(1) != drawn(2)


def test_equation_13_lowers_the_clip_after_50_updates() -> None:
    learner = Ppo(grid(20e3), 4, PpoSettings(clip_decays=True), seed=1)
    clips = []
    for learner.updates in (50, 100):
        clips.append(learner.clip)
    assert clips == pytest.approx([0.2, 0.2 * 0.99**2])
