"""The policy network, 4-12-12-1 without biases: its file, and its value with numpy.

ReLU inside, tanh at the end (facts sheet 4.2). The file is JSON: 204 weights, and how they were trained.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from testbed.base.arrays import Floats
from testbed.errors import BadInput

from ..learned.files import read_policy, write_json
from .observation import FEATURES, multiplier

SHAPES = ((12, FEATURES), (12, 12), (1, 12))
FORMAT, VERSION = "adpg-network", 1
RUNS = {  # what to do with a policy of this form, where another one is expected
    "adpg-network": "'testbed distil adpg --set network={file}' makes the trees that adpg runs; adpg-nn and adpg-int8 "
    "run network.onnx and int8.json, which 'testbed train adpg' writes beside it",
    "adpg-trees": "the controller adpg runs it",
    "adpg-int8": "the controller adpg-int8 runs it",
}


@dataclass(frozen=True)
class Network:
    """Weights of the three layers, shapes `SHAPES`; ``training`` says where they are from."""

    layers: tuple[Floats, ...]
    training: dict[str, Any] = field(default_factory=dict)

    def actions(self, features: Floats) -> Floats:
        """The network's output in [-1, 1], shape (k,)."""
        hidden = features
        for weights in self.layers[:-1]:
            hidden = np.maximum(hidden @ weights.T, 0.0)
        return np.asarray(np.tanh(hidden @ self.layers[-1].T)[:, 0])

    def decide(self, features: Floats) -> Floats:
        """Multipliers, shape (k,)."""
        return multiplier(self.actions(features))

    def in_c(self) -> tuple[int, Floats]:
        """For `rollout.Rollout`."""
        from .rollout import network_in_c

        return network_in_c(), np.concatenate([layer.reshape(-1) for layer in self.layers])

    def save(self, file: Path) -> None:
        """Write the file, whole or not at all."""
        layers = [[[float(f"{weight:.9g}") for weight in row] for row in layer] for layer in self.layers]
        write_json(file, {"format": FORMAT, "version": VERSION, "layers": layers, "training": self.training})

    @classmethod
    def load(cls, file: Path) -> Network:
        """Raises BadInput if the file is not a policy network of this version, or holds what is no number."""
        content = read_policy(file, FORMAT, VERSION, RUNS)
        layers = tuple(_layer(file, content, number, shape) for number, shape in enumerate(SHAPES))
        return cls(layers, content.get("training", {}))


def _layer(file: Path, content: dict[str, Any], number: int, shape: tuple[int, int]) -> Floats:
    try:
        layer = np.array(content["layers"][number], float)
    except (KeyError, IndexError, TypeError, ValueError):
        layer = np.empty(0)
    if layer.shape != shape or len(content["layers"]) != len(SHAPES):
        raise BadInput(f"{file}: layer {number} has shape {layer.shape}, expected {shape} of {len(SHAPES)} layers")
    if not np.isfinite(layer).all():
        raise BadInput(f"{file}: layer {number} holds weights that are no numbers")
    return layer
