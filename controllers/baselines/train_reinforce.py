"""Training by REINFORCE (Williams, Machine Learning 8, 1992), which stable-baselines3 does not have."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import torch
from torch import Tensor, nn

from testbed.base.arrays import Floats
from testbed.sdk.adam import Adam

from ..adpg.observation import FEATURES
from ..learned.network import Layers
from .rollouts import Exploring, Incasts, Played, actions
from .settings import ReinforceSettings

HIDDEN = (32, 16)
MOST_NORM = 0.5
Told = Callable[[int, float, Layers], None]  # updates made, mean reward, the network


def train(settings: ReinforceSettings, told: Told) -> Layers:
    """The trained network, whose tanh is the mean of the actions."""
    torch.set_num_threads(1)
    torch.manual_seed(settings.seed)
    incasts, policy = Incasts(settings), Exploring("vary", settings.seed, settings.sigma)
    net = network()
    adam = Adam(net.parameters(), settings.learning_rate)
    for update in range(settings.updates):
        now = layers(net)
        policy.take(now)
        played = incasts.play(policy)
        told(update, float(played.rewards.mean()), now)
        loss = objective(net, played, returns(played, settings.gamma), settings.sigma)
        adam.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call] # torch's
        nn.utils.clip_grad_norm_(net.parameters(), MOST_NORM)
        adam.step()
    return layers(net)


def network() -> nn.Sequential:
    """ADPG's features to a number; orthogonal, and nearly no decision at first."""
    linear = [nn.Linear(a, b) for a, b in pairwise((FEATURES, *HIDDEN, 1))]
    for one, gain in zip(linear, (2**0.5, 2**0.5, 0.01), strict=True):
        nn.init.orthogonal_(one.weight, gain)
        nn.init.zeros_(one.bias)
    return nn.Sequential(linear[0], nn.ReLU(), linear[1], nn.ReLU(), linear[2])


def layers(net: nn.Sequential) -> Layers:
    """Its weights."""
    linear = [one for one in net if isinstance(one, nn.Linear)]
    weights = tuple(one.weight.detach().numpy().astype(float) for one in linear)
    return Layers(weights, tuple(one.bias.detach().numpy().astype(float) for one in linear), "relu")


def returns(played: Played, gamma: float) -> Floats:
    """Discounted means of what came after, less their mean over the batch, in their deviations.

    Means, as ADPG's, not sums: a flow whose RTTs are long decides less often, and would have less to regret.
    """
    nothing = np.zeros(len(played.left))
    found = played.tails(nothing, gamma) * (1 - gamma) / (1 - gamma ** (played.left + 1))
    return np.asarray((found - found.mean()) / (found.std() + 1e-8))


def objective(net: nn.Module, played: Played, weights: Floats, sigma: float) -> Tensor:
    """Whose gradient is REINFORCE's estimate: minus weights times the logarithm of how likely the actions were."""
    mean = torch.tanh(net(torch.from_numpy(played.seen.astype(np.float32)))).squeeze(-1)
    away = torch.from_numpy(actions(played.factors).astype(np.float32)) - mean
    return (torch.from_numpy(weights.astype(np.float32)) * away**2 / (2 * sigma**2)).mean()
