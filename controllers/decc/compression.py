"""The compressed network: pruned by Laplace scales, then rounded to a few bits (section 3.3 of the paper).

All layers share one threshold t, found such that the share of weights beyond it is what is to be kept if a layer's
weights are Laplace of scale tau: the paper fits tau to the distribution function, the maximum likelihood is the mean
of |w|. The steps of the rounding follow from the printed Lagrangian; its printed solution lost a multiplier (register
of contradictions; facts sheet, 5.6). After each the network learns again to do as it did, on states of its own loops:
the paper repeats its training there.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import Tensor

from testbed.base.arrays import Floats
from testbed.sdk.adam import Adam

from .network import Network
from .networks import Actor
from .visited import visited
from .warm_start import NEAR

RATE, BATCH = 3e-4, 512
NO_STEP = 1.0  # where nothing is left to round
ASKED_MORE, MOST_ASKED = 0.002, 0.998
ROUNDS = 3  # of fine tuning: each on states of the student as it is then


def threshold(scales: Sequence[float], sizes: Sequence[int], pruned: float) -> float:
    """t with ``sum N exp(-t/tau) / sum N = 1 - pruned``, by Newton's method: from 0 it rises to the root."""
    tau, n = np.array(scales, float), np.array(sizes, float)
    t = 0.0
    for _ in range(100):
        left = n * np.exp(-t / tau)
        step = (left.sum() - (1 - pruned) * n.sum()) / (left / tau).sum()
        t += step
        if abs(step) < 1e-12 * tau.max():
            break
    return float(t)


def steps(weights: Sequence[Floats], bits: int) -> list[float]:
    """What one step of each layer's weights is worth: ``A^(1/3) sum(A^(2/3)) / 2^(bits - 1)``.

    A is the layer's part in the mean, over all weights that are left, of the largest weight of their channel (row). So
    their channels' ranges have 2^bits steps in the mean, and the sum of D^2 is least.
    """
    left = [(one != 0).sum(axis=1) for one in weights]
    total = sum(one.sum() for one in left)
    parts = [(n * np.abs(one).max(axis=1)).sum() / total for n, one in zip(left, weights, strict=True)]
    spread = np.sum(np.power(parts, 2 / 3)) / 2 ** (bits - 1)
    return [float(np.cbrt(one) * spread) if one > 0 else NO_STEP for one in parts]


def masks(network: Network, pruned: float) -> list[Floats]:
    """1 where a weight is kept. Trained weights are not quite Laplace: more is asked for until the share is reached."""
    scales, sizes = [float(np.abs(one).mean()) for one in network.weights], [one.size for one in network.weights]
    every = np.abs(np.concatenate([one.reshape(-1) for one in network.weights]))
    asked = pruned
    t = threshold(scales, sizes, asked)
    while (every <= t).mean() < pruned and asked < MOST_ASKED:
        asked += ASKED_MORE
        t = threshold(scales, sizes, asked)
    return [(np.abs(one) > t).astype(float) for one in network.weights]


def mean_bits(weights: Sequence[Floats], worth: Sequence[float]) -> float:
    """log2 of the steps in a channel's range, in the mean over all weights that are left."""
    left = [(one != 0).sum(axis=1) for one in weights]
    ranges = [2 * np.abs(one).max(axis=1) / step for one, step in zip(weights, worth, strict=True)]
    return float(np.log2(np.average(np.concatenate(ranges), weights=np.concatenate(left))))


class Tuning:
    """Fine tuning: the student does as the teacher did, with some weights held at zero, or all of them rounded."""

    def __init__(self, teacher: Network, seed: int, updates: int) -> None:
        self.teacher, self.updates = teacher, updates
        self.rng = np.random.default_rng(seed)

    def pruned(self, kept: Sequence[Floats]) -> Network:
        """With these masks."""
        held = [torch.from_numpy(one).float() for one in kept]
        return self._tuned(self.teacher, lambda layer, weight: weight * held[layer])

    def quantised(self, network: Network, worth: Sequence[float]) -> Network:
        """Rounded to multiples of ``worth``, with gradients as if it were not; what is zero stays so."""
        held = [torch.from_numpy((one != 0).astype(np.float32)) for one in network.weights]

        def rounded(layer: int, weight: Tensor) -> Tensor:
            whole = torch.round(weight / worth[layer]) * worth[layer]
            return (weight + (whole - weight).detach()) * held[layer]

        return self._tuned(network, rounded)

    def _tuned(self, start: Network, shaped: Callable[[int, Tensor], Tensor]) -> Network:
        actor = Actor()
        actor.take(start)
        optimiser = Adam(actor.parameters(), RATE)
        for _ in range(ROUNDS):
            states = visited(_shaped(actor, shaped).act, self.rng)
            wanted = self.teacher.act(states)
            for _ in range(self.updates // ROUNDS):
                picked = self.rng.integers(0, len(states), BATCH)
                aim = torch.from_numpy(wanted[picked]).float()
                weight = 1 + 20 * torch.exp(-((aim / NEAR) ** 2))
                shown = torch.func.functional_call(
                    actor, _named(actor, shaped), torch.from_numpy(states[picked]).float()
                )
                loss = (weight * (shown - aim) ** 2).mean()
                optimiser.zero_grad()
                loss.backward()
                optimiser.step()
        return _shaped(actor, shaped).network()


def _named(actor: Actor, shaped: Callable[[int, Tensor], Tensor]) -> dict[str, Tensor]:
    """Its parameters, the weights shaped."""
    number = {id(layer.weight): at for at, layer in enumerate(actor.layers)}
    return {name: shaped(number[id(one)], one) if id(one) in number else one for name, one in actor.named_parameters()}


@torch.no_grad()
def _shaped(actor: Actor, shaped: Callable[[int, Tensor], Tensor]) -> Actor:
    """A copy that has the shaped weights as its own."""
    made = copy.deepcopy(actor)
    for at, layer in enumerate(made.layers):
        layer.weight.copy_(shaped(at, layer.weight))
    return made
