"""The loss and its gradient by hand."""

from __future__ import annotations

import numpy as np
import pytest
from testbed_controllers.adpg.loss import loss, means, sequences, tails
from testbed_controllers.adpg.rollout import Recorded


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
