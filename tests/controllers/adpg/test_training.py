"""Training: the gradient by hand, what a training reaches, and how failures are recognised."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from testbed_controllers.adpg.evaluate import Aim, failure, many_to_one, ramp
from testbed_controllers.adpg.loss import loss, means, sequences, tails
from testbed_controllers.adpg.network import SHAPES, Network
from testbed_controllers.adpg.rollout import Recorded
from testbed_controllers.adpg.training import CHECK_EVERY, NEXT_SEED, train
from testbed_controllers.adpg.training_rollouts import ENOUGH, environments
from testbed_controllers.adpg.training_settings import Settings

T = 8.192e-6


def oracle(flows: int) -> float:
    """Facts sheet 4.4: x = 0 at the fair share."""
    return T * (0.5 + 0.064 * math.sqrt(flows))


def network(weights_of: dict[int, float], gain: float) -> Network:
    """tanh(gain * sum of ReLU(weight * feature)), by hand."""
    first, second, last = (np.zeros(shape) for shape in SHAPES)
    for unit, (feature, weight) in enumerate(weights_of.items()):
        first[unit, feature] = weight
        second[unit, unit] = 1.0
        last[0, unit] = gain
    return Network((first, second, last))


@pytest.mark.parametrize(
    ("gamma", "expected"),
    [
        # discounted sums of what follows, divided by how many there are
        (0.5, [(1 + 0.5 * (-0.5) + 0.25 * 2) / 3, (-0.5 + 0.5 * 2) / 2, 2.0]),
        (0.0, [1 / 3, -0.5 / 2, 2.0]),
        (1.0, [2.5 / 3, 1.5 / 2, 2.0]),
    ],
)
def test_tails_are_the_discounted_means_of_what_follows(gamma: float, expected: list[float]) -> None:
    x, there = np.array([[1.0, -0.5, 2.0, 99.0]]), np.array([[1.0, 1.0, 1.0, 0.0]])
    np.testing.assert_allclose(tails(x, there, gamma), [[*expected, 0.0]])


def test_the_printed_form_blames_every_action_for_every_signal() -> None:
    x, there = np.array([[1.0, -0.5, 2.5, 99.0]]), np.array([[1.0, 1.0, 1.0, 0.0]])
    np.testing.assert_allclose(means(x, there), [[1.0, 1.0, 1.0, 0.0]])


def test_the_loss_and_its_gradient_equal_an_example_by_hand() -> None:
    torch = pytest.importorskip("torch")
    actions = torch.tensor([[0.2, -0.4, 9.0], [9.0, 9.0, 9.0]], requires_grad=True)
    tail = torch.tensor([[1.0, 3.0, 9.0], [9.0, 9.0, 9.0]])
    there = torch.tensor([[1.0, 1.0, 0.0], [1.0, 0.0, 0.0]])  # the second flow has one decision: it does not count
    value = loss(actions, tail, there, smoothness=2.0)
    value.backward()
    # (0.2 * 1 - 0.4 * 3) / 2, and 2 times the mean of (a_i - a_j)^2 / 2 over pairs
    assert value.item() == pytest.approx(-0.5 + 2 * 0.6**2 / 2)
    # d/da_0: 1 / 2 + 2 * (a_0 - a_1); d/da_1: 3 / 2 - 2 * (a_0 - a_1)
    np.testing.assert_allclose(actions.grad, [[0.5 + 1.2, 1.5 - 1.2, 0], [0, 0, 0]], atol=1e-6)


def test_descent_lowers_the_action_where_the_queue_is_too_long() -> None:
    torch = pytest.importorskip("torch")
    actions = torch.zeros((2, 4), requires_grad=True)
    x = np.array([[2.0] * 4, [-0.5] * 4])
    there = np.ones((2, 4))
    loss(actions, torch.tensor(tails(x, there)), torch.tensor(there), smoothness=0.0).backward()
    step = -actions.grad.numpy()
    assert (step[0] < 0).all()
    assert (step[1] > 0).all()


def test_sequences_keep_the_order_of_each_flow_apart() -> None:
    features = np.arange(20.0).reshape(5, 4)
    got, there = sequences(Recorded(features, np.array([7, 3, 7, 3, 7])), longest=2)
    np.testing.assert_array_equal(there, [[1, 1], [1, 1]])
    np.testing.assert_array_equal(got, [features[[1, 3]], features[[0, 2]]])  # flow 3, flow 7 without its third


@pytest.mark.parametrize("kind", ["compiled", "numpy"])
def test_environments_give_sequences_that_the_policy_caused(kind: str) -> None:
    settings = Settings(rollout=kind, senders=(2,), copies=2, start_window="0 s")
    policy = network({1: 1.0, 3: 1.0}, -0.5)  # slows down where there is congestion
    one = environments(settings, seed=3)
    one.collect(policy)  # the start at line rate
    features, there = sequences(one.collect(policy))
    assert there.sum(1).max() >= ENOUGH
    assert features[..., 3].min() >= -0.8
    assert features[..., 3].max() <= 8.0
    for flow, valid in zip(features, there.astype(bool), strict=True):
        for before, after in pairwise(flow[valid]):
            np.testing.assert_array_equal(after[[0, 1]], before[[2, 3]])
            assert after[2] == pytest.approx(policy.decide(before[None])[0], rel=1e-12)


def test_a_short_training_helps_and_gives_the_same_again() -> None:
    pytest.importorskip("torch")
    settings = Settings(updates=5 * CHECK_EVERY, attempts=1, seed=4)
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


def test_a_policy_that_only_slows_down_is_dead() -> None:
    figures = [many_to_one(network({2: 1.0}, -5.0), flows) for flows in (2, 8)]
    assert "dead" in failure(figures)
    assert max(one.su for one in figures) < 60


def test_a_policy_that_only_switches_is_a_limit_cycle() -> None:
    figures = [many_to_one(_switch(), flows) for flows in (8, 2)]
    assert "limit cycle: with 2 flows" in failure(figures)


def _switch() -> Network:
    """Full speed up below the aim, full slow down above it."""
    first, second, last = (np.zeros(shape) for shape in SHAPES)
    first[0, 3], first[1, 3] = 1.0, -1.0
    second[0, 0] = second[1, 1] = 1.0
    last[0, :2] = -50.0, 50.0
    return Network((first, second, last))


def test_the_ramp_of_a_constant_multiplier_is_a_geometric_series() -> None:
    least = math.log(0.95 / 0.01) / math.log(1.2)  # decisions; each takes an RTT
    assert ramp(network({2: 1.0}, 50.0)) == pytest.approx(math.ceil(least), abs=1.5)
    assert ramp(network({2: 1.0}, -50.0)) == math.inf


def test_the_aim_is_the_oracle() -> None:
    for flows in (1, 2, 64, 8192):
        assert Aim().queue(flows) == pytest.approx(oracle(flows))
