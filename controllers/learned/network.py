"""A fully connected network: its file, and its value with numpy."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import numpy as np

from testbed.base.arrays import Floats
from testbed.errors import BadInput

from .files import read_policy, write_json

FORMAT, VERSION = "layers", 1
DIGITS = 6
Kind = Literal["tanh", "relu"]


@dataclass(frozen=True)
class Layers:
    """Weights of shapes (outputs, inputs), biases of shapes (outputs,); ``training`` says where they are from."""

    weights: tuple[Floats, ...]
    biases: tuple[Floats, ...]
    hidden: Kind  # what is between the layers; there is nothing behind the last
    training: dict[str, Any] = field(default_factory=dict)

    @property
    def widths(self) -> tuple[int, ...]:
        """Inputs, outputs of each layer."""
        return (self.weights[0].shape[1], *(len(one) for one in self.biases))

    def __call__(self, rows: Floats) -> Floats:
        """Outputs, shape (k, outputs), for inputs of shape (k, inputs)."""
        for weights, biases in zip(self.weights[:-1], self.biases[:-1], strict=True):
            sums = rows @ weights.T + biases
            rows = np.tanh(sums) if self.hidden == "tanh" else np.maximum(sums, 0.0)
        return np.asarray(rows @ self.weights[-1].T + self.biases[-1])

    def save(self, file: Path) -> None:
        """Write the file, whole or not at all."""
        layers = [
            [[float(f"{one:.{DIGITS}g}") for one in row] for row in np.column_stack((weights, biases))]
            for weights, biases in zip(self.weights, self.biases, strict=True)
        ]
        content = {"format": FORMAT, "version": VERSION, "hidden": self.hidden, "layers": layers}
        write_json(file, {**content, "training": self.training})

    @classmethod
    def load(cls, file: Path, widths: tuple[int, ...]) -> Layers:
        """Raises BadInput if the file holds no such network, of these ``widths``, or what is no number."""
        content = read_policy(file, FORMAT, VERSION)
        try:
            layers = [np.array(one, float) for one in content["layers"]]
            hidden = content["hidden"]
        except (KeyError, TypeError, ValueError) as error:
            raise BadInput(f"{file} is damaged: {type(error).__name__}: {error}") from None
        found, expected = [one.shape for one in layers], [(b, a + 1) for a, b in pairwise(widths)]
        if found != expected:
            raise BadInput(f"{file}: layers have shapes {found}, expected {expected}: weights and a bias per row")
        if hidden not in ("tanh", "relu"):
            raise BadInput(f"{file}: hidden is {hidden!r} (allowed: tanh, relu)")
        if not all(np.isfinite(one).all() for one in layers):
            raise BadInput(f"{file}: holds weights that are no numbers")
        weights, biases = tuple(one[:, :-1] for one in layers), tuple(one[:, -1] for one in layers)
        return cls(weights, biases, hidden, content.get("training", {}))
