"""The network in 8 bit integers, as a NIC's core runs it (after Wu et al. 2020; facts sheet 4.1, recipe 6).

Weights and activations are symmetric int8, products are summed in 32 bits and scaled back to 8. One scale serves all
inputs. Up to which x it reaches is tried in closed loops: a finer step tells flows of unlike rates apart, an overload
must still demand a decrease. The hidden layers' scales are the largest values seen in closed loops, overload included.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from testbed.base.arrays import Floats
from testbed.errors import BadInput

from ..learned.files import read_policy, write_json
from .evaluate import Aim, Figures, score, settled
from .network import RUNS, SHAPES, Network
from .observation import HIGHEST_X, multiplier

FORMAT, VERSION = "adpg-int8", 1
TOP = 127
RANGES = (HIGHEST_X, 7.0, 6.0, 5.0, 4.0)  # of the inputs


@dataclass(frozen=True)
class Int8Network:
    """Integer weights, shapes `SHAPES`, and what one step of each layer's input and of the output is worth."""

    layers: tuple[Floats, ...]  # whole numbers from -127 to 127
    scales: Floats  # of inputs, first and second hidden layer, shape (3,)
    weights: Floats  # of the three layers' weights, shape (3,)
    training: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, network: Network, seen: Floats, top: float) -> Int8Network:
        """Quantise; inputs end at ``top``, ``seen`` are features of closed loops, shape (k, 4)."""
        hidden, tops = np.minimum(seen, top), []
        for layer in network.layers[:-1]:
            hidden = np.maximum(hidden @ layer.T, 0.0)
            tops.append(hidden.max())
        scales = np.array([top, *tops]) / TOP
        weights = np.array([np.abs(layer).max() for layer in network.layers]) / TOP
        layers = tuple(np.rint(layer / scale) for layer, scale in zip(network.layers, weights, strict=True))
        return cls(layers, scales, weights, network.training)

    def decide(self, features: Floats) -> Floats:
        """Multipliers, shape (k,)."""
        values = np.clip(np.rint(features / self.scales[0]), -TOP, TOP)
        for number in (0, 1):
            summed = values @ self.layers[number].T
            back = self.scales[number] * self.weights[number] / self.scales[number + 1]
            values = np.clip(np.rint(summed * back), 0, TOP)
        return multiplier(np.tanh((values @ self.layers[2].T)[:, 0] * (self.scales[2] * self.weights[2])))

    def in_c(self) -> tuple[int, Floats]:
        """For `rollout.Rollout`."""
        from .rollout import int8_in_c

        back = self.scales[:-1] * self.weights[:-1] / self.scales[1:]
        numbers = [self.scales[:1], back, [self.scales[2] * self.weights[2]]]
        return int8_in_c(), np.concatenate([*numbers, *(layer.reshape(-1) for layer in self.layers)])

    def save(self, file: Path) -> None:
        """Write the file, whole or not at all."""
        content = {
            "format": FORMAT,
            "version": VERSION,
            "scales": self.scales.tolist(),
            "weight_scales": self.weights.tolist(),
            "layers": [layer.astype(int).tolist() for layer in self.layers],
            "training": self.training,
        }
        write_json(file, content)

    @classmethod
    def load(cls, file: Path) -> Int8Network:
        """Raises BadInput if the file does not hold such a network."""
        content = read_policy(file, FORMAT, VERSION, RUNS)
        try:
            layers = tuple(np.array(layer, float) for layer in content["layers"])
            scales, weights = np.array(content["scales"], float), np.array(content["weight_scales"], float)
        except (KeyError, TypeError, ValueError) as error:
            raise BadInput(f"{file} is damaged: {type(error).__name__}: {error}") from None
        found = tuple(layer.shape for layer in layers)
        if found != SHAPES or scales.shape != (3,) or weights.shape != (3,):
            raise BadInput(f"{file}: layers have shapes {found}, expected {SHAPES} and three scales of each kind")
        whole = all((np.abs(layer) <= TOP).all() and (layer == np.rint(layer)).all() for layer in layers)
        if not whole or not (np.isfinite([*scales, *weights]).all() and (scales > 0).all() and (weights > 0).all()):
            raise BadInput(f"{file}: weights must be whole numbers from -{TOP} to {TOP}, scales positive numbers")
        return cls(layers, scales, weights, content.get("training", {}))


def quantised(network: Network, seen: Floats, flows: Sequence[int], aim: Aim) -> tuple[Int8Network, list[Figures]]:
    """The best of all ranges in closed loops of so many flows, of those that lose nothing; and its figures."""
    tried = [Int8Network.of(network, seen, top) for top in RANGES]
    figures = [[settled(one, each, aim) for each in flows[:-1]] for one in tried]

    def rank(at: int) -> tuple[bool, float, int]:
        return any(one.dropped > 0 for one in figures[at]), score(figures[at]), at

    best: tuple[bool, float, int] | None = None
    # The last number takes most of the time, and more figures make no rank better: what is behind is not looked at.
    for at in sorted(range(len(tried)), key=rank):
        if best is None or rank(at) < best:
            figures[at].append(settled(tried[at], flows[-1], aim))
            best = min(filter(None, (best, rank(at))))
    assert best is not None
    return tried[best[-1]], figures[best[-1]]
