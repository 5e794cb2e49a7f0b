"""PPO and REINFORCE: their networks against numpy, and how PPO draws."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from testbed_controllers.adpg.observation import multiplier
from testbed_controllers.baselines import Ppo, Reinforce
from testbed_controllers.baselines.multipliers import FACTORS
from testbed_controllers.baselines.rollouts import actions
from testbed_controllers.baselines.shipped import SEEDS

from testbed.controller import Path

T = 8.192e-6
PATH = Path(line_rate=100e9, base_rtt=T, longest_rtt=T, hops=1, payload=1000, wire_size=1078)
SEEN = np.random.default_rng(1).uniform([0.8, -0.8, 0.8, -0.8], [1.2, 8, 1.2, 8], (20, 4))


def made(form: type[Any], **options: Any) -> Any:
    return form(form.Config.model_validate(options), PATH)


@pytest.mark.parametrize("seed", SEEDS)
def test_reinforce_decides_by_its_mean(seed: int) -> None:
    one = made(Reinforce, seed=seed)
    network = Reinforce.load(one.config)
    for seen in SEEN:
        one.seen = list(seen)
        assert one.policy() == pytest.approx(multiplier(np.tanh(network(seen[None])))[0, 0], rel=1e-9)


def test_reinforce_draws_around_its_mean() -> None:
    one, decided = made(Reinforce, sigma=0.1), []
    one.seen = [1.0, -0.8, 1.0, -0.8]
    mean = np.tanh(Reinforce.load(one.config)(np.array([one.seen])))[0, 0]
    for dice in np.linspace(0, 2**31 - 1, 801).astype(int):
        one.dice = int(dice)
        decided.append(one.policy())
    found = actions(np.array(decided))
    assert found.mean() == pytest.approx(mean, abs=0.01)
    assert found.std() == pytest.approx(0.1, rel=0.1)


def test_seeds_are_different_policies() -> None:
    for form in (Ppo, Reinforce):
        outputs = [form.load(form.Config(seed=seed))(SEEN) for seed in SEEDS]
        assert not np.allclose(outputs[0], outputs[1], atol=1e-3)
        assert not np.allclose(outputs[1], outputs[2], atol=1e-3)


def test_ppo_draws_by_the_softmax() -> None:
    one = made(Ppo)
    one.seen = list(SEEN[0])
    logits = Ppo.load(one.config)(SEEN[:1])[0]
    expected = np.exp(logits - logits.max())
    expected /= expected.sum()
    dice, drawn = np.linspace(0, 2**31 - 1, 2001).astype(int), []
    for at in dice:
        one.dice = int(at)
        drawn.append(one.policy())
    found = np.array([drawn.count(factor) for factor in FACTORS]) / len(dice)
    assert found == pytest.approx(expected, abs=2e-3)


def test_ppo_without_chance_takes_the_most_probable() -> None:
    one = made(Ppo, drawn=False)
    for seen in SEEN:
        one.seen = list(seen)
        assert one.policy() == FACTORS[Ppo.load(one.config)(seen[None])[0].argmax()]
