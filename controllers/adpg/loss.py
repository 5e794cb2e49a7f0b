"""ADPG's loss: the analytic gradient of the papers' reward, and smoothness (facts sheet 4.2; torch)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from testbed.base.arrays import Floats

from .rollout import Recorded

if TYPE_CHECKING:
    import torch

GAMMA = 0.99
LONGEST = 64  # decisions per flow and update


def sequences(recorded: Recorded, longest: int = LONGEST) -> tuple[Floats, Floats]:
    """Features, shape (s, longest, 4), and which of them are there, shape (s, longest)."""
    order = np.argsort(recorded.sequence, kind="stable")
    number = np.unique(recorded.sequence[order], return_inverse=True)[1]
    place = np.arange(len(number)) - np.searchsorted(number, number)
    kept = place < longest
    features = np.zeros((number[-1] + 1, longest, recorded.features.shape[1]))
    there = np.zeros(features.shape[:2])
    features[number[kept], place[kept]] = recorded.features[order][kept]
    there[number[kept], place[kept]] = 1.0
    return features, there


def tails(x: Floats, there: Floats, gamma: float = GAMMA) -> Floats:
    """``G_i``: the discounted mean of the signals that follow decision i, itself included, per flow."""
    tail = np.zeros(len(x))
    left = np.zeros(len(x))
    result = np.zeros_like(x)
    for i in range(x.shape[1] - 1, -1, -1):
        tail = there[:, i] * (x[:, i] + gamma * tail)
        left = there[:, i] * (1.0 + left)
        result[:, i] = tail / np.maximum(left, 1.0)
    return result


def means(x: Floats, there: Floats) -> Floats:
    """The paper's printed form instead: the mean of all the signals of a flow, whatever came first."""
    mean = (x * there).sum(1) / np.maximum(there.sum(1), 1.0)
    return np.asarray(mean[:, None] * there)


def loss(actions: torch.Tensor, tail: torch.Tensor, there: torch.Tensor, smoothness: float, weight: float = 1.0) -> Any:
    """Descent on ``a_i G_i``: a positive signal pushes the action down. Mean over flows with two decisions or more."""
    count = there.sum(1)
    enough = count >= 2
    reward = (actions * tail * there).sum(1) / count.clamp(min=1)
    mean = (actions * there).sum(1) / count.clamp(min=1)
    spread = (((actions - mean[:, None]) ** 2) * there).sum(1) / (count - 1).clamp(min=1)  # mean of (a_i - a_j)^2 / 2
    return (weight * reward + smoothness * spread)[enough].mean()
