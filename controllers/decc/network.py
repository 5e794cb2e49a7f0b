"""The policy network: its file, and its value with numpy. 25-128-64-32, an LSTM cell of 32, 16, 1, with biases."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from testbed.base.arrays import Floats
from testbed.errors import BadInput

from ..learned.files import read_policy, write_json
from .observation import FEATURES, MOST_ACTION

WIDTHS = (128, 64, 32)  # fully connected, ReLU
CELL = (32, 16)  # the LSTM's cell, and the layer behind it
SHAPES = ((128, FEATURES), (64, 128), (32, 64), (3 * 32, 32), (16, 32), (1, 16))
FORMAT, VERSION = "decc-network", 1


@dataclass(frozen=True)
class Network:
    """Weights of shapes `SHAPES`, and biases; ``training`` says where they are from."""

    weights: tuple[Floats, ...]
    biases: tuple[Floats, ...]
    training: dict[str, Any] = field(default_factory=dict)

    def act(self, seen: Floats) -> Floats:
        """Actions for histories, shapes (...) and (..., 25)."""
        layers = list(zip(self.weights, self.biases, strict=True))
        hidden = seen
        for weights, biases in layers[:3]:
            hidden = np.maximum(hidden @ weights.T + biases, 0.0)
        admit, candidate, emit = np.split(hidden @ layers[3][0].T + layers[3][1], 3, axis=-1)
        cell = np.tanh(np.tanh(candidate) / (1 + np.exp(-admit))) / (1 + np.exp(-emit))
        hidden = np.maximum(cell @ layers[4][0].T + layers[4][1], 0.0)
        return np.asarray(MOST_ACTION * np.tanh(hidden @ layers[5][0].T + layers[5][1])[..., 0])

    def save(self, file: Path) -> None:
        """Write the file, whole or not at all."""
        rounded = [[[float(f"{one:.6g}") for one in row] for row in layer] for layer in self.weights]
        biases = [[float(f"{one:.6g}") for one in layer] for layer in self.biases]
        content = {"format": FORMAT, "version": VERSION, "weights": rounded, "biases": biases}
        write_json(file, {**content, "training": self.training})

    @classmethod
    def load(cls, file: Path) -> Network:
        """Raises BadInput if the file is not such a network, or holds what is no number."""
        content = read_policy(file, FORMAT, VERSION)
        try:
            weights = tuple(np.array(one, float) for one in content["weights"])
            biases = tuple(np.array(one, float) for one in content["biases"])
        except (KeyError, TypeError, ValueError) as error:
            raise BadInput(f"{file} is damaged: {type(error).__name__}: {error}") from None
        found = tuple(one.shape for one in weights)
        if found != SHAPES or tuple(one.shape for one in biases) != tuple(shape[:1] for shape in SHAPES):
            raise BadInput(f"{file}: weights have shapes {found}, expected {SHAPES} and a bias per row")
        if not all(np.isfinite(one).all() for one in (*weights, *biases)):
            raise BadInput(f"{file}: holds weights that are no numbers")
        return cls(weights, biases, content.get("training", {}))
