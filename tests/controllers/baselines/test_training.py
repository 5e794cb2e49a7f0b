"""Training: what is learned from, the gradients, and that the policies that explore are those that run."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from testbed_controllers.adpg.observation import multiplier
from testbed_controllers.baselines.multipliers import FACTORS, Ppo, Reinforce
from testbed_controllers.baselines.rollouts import Exploring, Incasts, Played, actions
from testbed_controllers.baselines.settings import PpoSettings, ReinforceSettings, Settings

from tests.support.lazily import Lazily

torch = Lazily("torch")
train_ppo = Lazily("testbed_controllers.baselines.train_ppo")
train_reinforce = Lazily("testbed_controllers.baselines.train_reinforce")

RNG = np.random.default_rng(1)


def played(lengths: tuple[int, ...] = (3, 1, 5)) -> Played:
    """Sequences of these lengths."""
    total = sum(lengths)
    place = np.concatenate([np.arange(one) for one in lengths])
    left = np.concatenate([np.arange(one)[::-1] for one in lengths])
    rewards = -RNG.uniform(0, 0.4, total)
    seen, after = RNG.uniform(-0.8, 8, (2, total, 4))
    return Played(seen, RNG.choice(FACTORS, total), rewards, place, left, after)


def test_tails_are_discounted_sums_within_a_sequence() -> None:
    one = played((2, 1))
    a, b, c = one.rewards
    last = np.array([7.0, 10.0, 100.0])
    assert one.tails(last, 0.9) == pytest.approx([a + 0.9 * b + 0.81 * 10, b + 0.9 * 10, c + 0.9 * 100])


def test_returns_are_means_of_what_is_left() -> None:
    """A flow with few decisions left has no less to regret: for equal rewards there is nothing to learn."""
    one = played()
    assert train_reinforce.returns(one._replace(rewards=np.full(9, -0.3)), 0.99) == pytest.approx(np.zeros(9), abs=1e-4)


def test_the_gradient_is_the_objectives_finite_difference() -> None:
    torch.manual_seed(1)
    net, one = train_reinforce.network().double(), played()
    one = one._replace(factors=multiplier(RNG.uniform(-0.5, 0.5, 9)))
    weights = train_reinforce.returns(one, 0.99)

    def value() -> Any:
        seen = torch.from_numpy(one.seen)
        mean = torch.tanh(net(seen)).squeeze(-1)
        normal = torch.distributions.Normal(mean, 0.1)
        return -(torch.from_numpy(weights) * normal.log_prob(torch.from_numpy(actions(one.factors)))).mean()

    parameter = net[4].weight
    train_reinforce.objective(net.float(), one, weights, 0.1).backward()
    gradient = parameter.grad[0, 3].item()
    net.double()
    with torch.no_grad():
        parameter = net[4].weight
        parameter[0, 3] += 1e-4
        above = value().item()
        parameter[0, 3] -= 2e-4
        below = value().item()
    assert gradient == pytest.approx((above - below) / 2e-4, rel=1e-3)


def test_ppo_remembers_what_was_drawn_and_how_likely_it_was() -> None:
    model, one = train_ppo._model(PpoSettings()), played()
    buffer = train_ppo.remembered(model, one)
    with torch.no_grad():
        seen = torch.from_numpy(one.seen.astype(np.float32))
        likely = model.policy.get_distribution(seen).distribution.probs.numpy()
        values = model.policy.predict_values(torch.from_numpy(one.after.astype(np.float32))).numpy()[:, 0]
    chosen = buffer.actions[:, 0, 0].astype(int)
    assert np.array(FACTORS)[chosen] == pytest.approx(one.factors)
    assert np.exp(buffer.log_probs[:, 0]) == pytest.approx(likely[np.arange(9), chosen], rel=1e-4)
    assert buffer.returns[8, 0] == pytest.approx(one.rewards[8] + 0.99 * values[8], rel=1e-4)


def test_ppo_with_normal_actions_remembers_them_around_the_mean_that_decides() -> None:
    model, one = train_ppo._model(PpoSettings(action="normal")), played()
    one = one._replace(factors=multiplier(RNG.uniform(-0.5, 0.5, 9)))
    buffer = train_ppo.remembered(model, one)
    assert buffer.actions[:, 0, 0] == pytest.approx(actions(one.factors), abs=1e-6)
    mean = np.tanh(train_ppo.layers(model, "relu")(one.seen))[:, 0]
    away = buffer.actions[:, 0, 0] - mean
    assert buffer.log_probs[:, 0] == pytest.approx(-(away**2) / 2 - math.log(2 * math.pi) / 2, rel=1e-4)  # deviation 1


def test_rollouts_are_the_controllers_own_decisions() -> None:
    """Without noise, what C decided is what the controller's network decides on the features that are kept."""
    policy, settings = Exploring("vary", 1), Settings(copies=1, rollout=32)
    shipped = Reinforce.load(Reinforce.Config())
    policy.take(shipped)
    one = Incasts(settings).play(policy)
    assert one.factors == pytest.approx(multiplier(np.tanh(shipped(one.seen)))[:, 0], rel=1e-6)
    follows = np.flatnonzero(one.left > 0)
    assert len(follows) > 100
    assert one.after[follows] == pytest.approx(one.seen[follows + 1])
    assert one.left.max() < 32


@pytest.mark.parametrize("how", ["choose", "vary"])
def test_what_explores_does_so_as_it_should(how: str) -> None:
    """Six factors as often as the softmax says; actions with a deviation of sigma."""
    form = Ppo if how == "choose" else Reinforce
    policy = Exploring(how, 3, 0.1)  # type: ignore[arg-type]
    shipped = form.load(form.Config())
    policy.take(shipped)
    settings = ReinforceSettings(copies=8, rollout=64)
    one = Incasts(settings).play(policy)
    outputs = shipped(one.seen)
    if how == "choose":
        likely = np.exp(outputs - outputs.max(axis=1, keepdims=True))
        likely /= likely.sum(axis=1, keepdims=True)
        found = np.array([(one.factors == factor).mean() for factor in FACTORS])
        assert found == pytest.approx(likely.mean(axis=0), abs=5 / np.sqrt(len(one.factors)))
    else:
        away = actions(one.factors) - np.tanh(outputs[:, 0])
        inside = np.abs(np.tanh(outputs[:, 0])) < 0.5
        assert inside.sum() > 100
        assert away[inside].std() == pytest.approx(0.1, rel=0.1)
