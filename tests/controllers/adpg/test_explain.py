"""The explanation: importance by hand, and what drives a decision."""

from __future__ import annotations

import numpy as np
from testbed_controllers.adpg.explain import REST, drives, explained, reached, surface
from testbed_controllers.adpg.tree import Trees

from testbed.base.arrays import Floats


class Linear:
    """A policy whose multiplier is 1 + w f, f measured from rest."""

    def __init__(self, *weights: float) -> None:
        self.weights = np.array(weights)

    def decide(self, features: Floats) -> Floats:
        return np.asarray(1 + (features - REST) @ self.weights)


def test_what_drives_a_linear_policy_are_its_terms() -> None:
    policy = Linear(0.1, 0.02, -0.05, 0.01)
    states = np.array([[1.1, 0.5, 0.9, -0.8], [1.0, 0.0, 1.0, 0.0]])
    np.testing.assert_allclose(drives(policy, states), (states - REST) * policy.weights, atol=1e-15)


def test_the_surface_has_the_current_signal_upwards() -> None:
    before, now = np.array([0.0, 1.0]), np.array([0.0, 2.0, 4.0])
    np.testing.assert_allclose(surface(Linear(0, 0, 0, 0.01), before, now), [[1, 1], [1.02, 1.02], [1.04, 1.04]])


def test_the_questions_explain_the_variance_by_hand() -> None:
    # One tree: x(k) > 0 is worth 3, then m(k-1) > 1 is worth 4; both halve the states, independently of each other:
    # the variances are 3^2 / 4 and 4^2 / 4.
    trees = Trees(np.array([[3, 2]]), np.array([[0.0, 1.0]]), np.array([[0.0, 3.0, 4.0, 7.0]]), 0.0)
    states = np.array([[1, 0, m, x] for m in (0.9, 1.1) for x in (-0.5, 0.5)])
    np.testing.assert_allclose(explained(trees, states), [0, 0, 16 / 25, 9 / 25])
    np.testing.assert_allclose(reached(trees, states), [[0.25, 0.25, 0.25, 0.25]])
