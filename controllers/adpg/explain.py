"""What a policy does, in numbers: its answers to telling states, and which features its answers come from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from testbed.base.arrays import Floats, Ints

from .controller import Policy
from .observation import FEATURES, limited
from .tree import Trees

NAMES = ("m(k-2)", "x(k-1)", "m(k-1)", "x(k)")
REST = np.array([1.0, 0.0, 1.0, 0.0])
CONSTANT_X = (-0.8, 0.0, 0.2, 0.5, 0.8, 1.0, 2.0, 5.0, 8.0)
# What the published network answers (facts sheet 4.3): x in both slots, m = 1.
PUBLISHED_CONSTANT = {0.2: 0.987, 0.5: 0.957, 1.0: 0.931, 2.0: 0.877, 5.0: 0.835}
# (m, x) of one decision, and what the published network answers by the previous one (row) and this one (column).
SITUATIONS = {"under": (1.1, -0.768), "on": (1.0, 0.0), "over": (1.1, 0.768)}
PUBLISHED_CHANGE = ((1.050, 0.925, 0.885), (1.101, 1.004, 0.911), (1.144, 1.052, 0.941))


@dataclass(frozen=True)
class Answer:
    """A state and the multipliers that it leads to."""

    state: str
    network: float
    trees: float
    published: float | None


def constant(network: Policy, trees: Policy) -> list[Answer]:
    """The signal stays where it is, the rate too."""
    states = np.array([[1.0, x, 1.0, x] for x in CONSTANT_X])
    known = [PUBLISHED_CONSTANT.get(x) for x in CONSTANT_X]
    return _answers([f"x stays {x:g}" for x in CONSTANT_X], states, network, trees, known)


def changing(network: Policy, trees: Policy) -> list[Answer]:
    """The signal goes from one situation to another."""
    names, states = [], []
    for before, was in SITUATIONS.items():
        for after, now in SITUATIONS.items():
            names.append(f"{before}, then {after}")
            states.append([*was, *now])
    known: list[float | None] = [value for row in PUBLISHED_CHANGE for value in row]
    return _answers(names, np.array(states), network, trees, known)


def _answers(
    names: list[str], states: Floats, network: Policy, trees: Policy, published: list[float | None]
) -> list[Answer]:
    values = zip(names, _decided(network, states), _decided(trees, states), published, strict=True)
    return [Answer(name, float(first), float(second), known) for name, first, second, known in values]


def _decided(policy: Policy, features: Floats) -> Floats:
    """As the controller takes it."""
    return limited(policy.decide(features))


def surface(policy: Policy, before: Floats, now: Floats) -> Floats:
    """Multipliers over x(k-1) and x(k) at m = 1, shape (len(now), len(before))."""
    x_before, x_now = np.meshgrid(before, now)
    ones = np.ones(x_before.size)
    return _decided(policy, np.column_stack((ones, x_before.ravel(), ones, x_now.ravel()))).reshape(x_before.shape)


def drives(policy: Policy, features: Floats) -> Floats:
    """What each feature does to the multiplier: how it changes if that one is at rest, shape (k, 4)."""
    decided = _decided(policy, features)
    changes = np.empty_like(features)
    for number in range(FEATURES):
        calm = features.copy()
        calm[:, number] = REST[number]
        changes[:, number] = decided - _decided(policy, calm)
    return changes


def driven(policy: Policy, seen: Floats) -> Floats:
    """Root mean square of `drives` per feature, shape (4,)."""
    return np.asarray(np.sqrt((drives(policy, seen) ** 2).mean(axis=0)))


def explained(trees: Trees, seen: Floats) -> Floats:
    """Share of the trees' variance that questions about each feature explain, shape (4,).

    Each tree's leaves vary over the seen states. Its first question explains what the variance falls by once its answer
    is known, the next one what it falls by further, and so on; the falls are summed by feature, over all trees.
    """
    answers = seen.astype(np.float32)[:, trees.feature] > trees.border.astype(np.float32)
    falls = np.zeros(FEATURES)
    for features, leaves, bits in zip(trees.feature, trees.leaves, answers.transpose(1, 0, 2), strict=True):
        known = np.zeros(len(seen), np.int64)
        leaf = leaves[(bits << np.arange(len(features))).sum(axis=1)]
        left = leaf.var()
        for bit, feature in enumerate(features):
            known += bits[:, bit].astype(np.int64) << bit
            after = _within(leaf, known)
            falls[feature] += left - after
            left = after
    return np.asarray(falls / max(falls.sum(), 1e-30))


@dataclass(frozen=True)
class Importance:
    """Of each feature, on some states; columns of shape (4,)."""

    explained: Floats  # share of the trees' variance
    network: Floats  # RMS of `drives`
    trees: Floats

    def as_dict(self) -> dict[str, dict[str, float]]:
        """By feature."""
        return {
            name: {key: float(column[number]) for key, column in vars(self).items()}
            for number, name in enumerate(NAMES)
        }


def _within(values: Floats, groups: Ints) -> float:
    """Variance that is left within the groups."""
    count = np.bincount(groups)
    mean = np.bincount(groups, values) / np.maximum(count, 1)
    return float(((values - mean[groups]) ** 2).mean())


def reached(trees: Trees, seen: Floats) -> Floats:
    """Share of the states that ends in each leaf, shape as `Trees.leaves`."""
    bits = seen.astype(np.float32)[:, trees.feature] > trees.border.astype(np.float32)
    leaf = (bits << np.arange(trees.feature.shape[1])).sum(axis=2)
    shares = [np.bincount(column, minlength=trees.leaves.shape[1]) for column in leaf.T]
    return np.array(shares) / len(seen)
