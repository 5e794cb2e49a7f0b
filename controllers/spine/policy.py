"""SPINE's policy: its file, and its value with numpy.

The watcher, 12-8-1, sees the interval and the one of the last trigger, and says whether the generator runs. The
generator, a GRU cell of 16 whose state goes from trigger to trigger, sees the interval and gives four places.
Weights have a row per output; the last column is the bias.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from testbed.base.arrays import Floats
from testbed.errors import BadInput

from ..learned.files import read_policy, write_json
from .observation import PARAMETERS, SEEN

WATCHER, CELL = 8, 16
SHAPES = {
    "notice": (WATCHER, 2 * SEEN + 1),
    "trigger": (1, WATCHER + 1),
    "input": (3 * CELL, SEEN + 1),  # the cell's gates: reset, update, candidate
    "recurrent": (3 * CELL, CELL + 1),
    "head": (PARAMETERS, CELL + 1),
}
FORMAT, VERSION = "spine-policy", 1


@dataclass(frozen=True)
class Policy:
    """Weights of shapes `SHAPES`; ``training`` says where they are from."""

    weights: dict[str, Floats]
    training: dict[str, Any] = field(default_factory=dict)

    def watch(self, seen: Floats, before: Floats) -> Floats:
        """Above 0 the generator runs; shapes (k,), and (k, 6) of the interval and of the last trigger's."""
        hidden = np.tanh(self._layer("notice", np.concatenate((seen, before), axis=-1)))
        return np.asarray(self._layer("trigger", hidden)[..., 0])

    def generate(self, seen: Floats, state: Floats) -> tuple[Floats, Floats]:
        """The places of the parameters, shape (k, 4), and the cell's next state, (k, 16)."""
        given, kept = self._layer("input", seen), self._layer("recurrent", state)
        reset, update = np.split(_sigmoid(given[..., : 2 * CELL] + kept[..., : 2 * CELL]), 2, axis=-1)
        candidate = np.tanh(given[..., 2 * CELL :] + reset * kept[..., 2 * CELL :])
        state = candidate + update * (state - candidate)
        return _sigmoid(self._layer("head", state)), state

    def _layer(self, name: str, values: Floats) -> Floats:
        weights = self.weights[name]
        return np.asarray(values @ weights[:, :-1].T + weights[:, -1])

    def save(self, file: Path) -> None:
        """Write the file, whole or not at all."""
        rounded = {name: [[float(f"{one:.6g}") for one in row] for row in rows] for name, rows in self.weights.items()}
        write_json(file, {"format": FORMAT, "version": VERSION, "weights": rounded, "training": self.training})

    @classmethod
    def load(cls, file: Path) -> Policy:
        """Raises BadInput if the file is not such a policy, or holds what is no number."""
        content = read_policy(file, FORMAT, VERSION)
        try:
            weights = {name: np.array(content["weights"][name], float) for name in SHAPES}
        except (KeyError, TypeError, ValueError) as error:
            raise BadInput(f"{file} is damaged: {type(error).__name__}: {error}") from None
        found = {name: one.shape for name, one in weights.items()}
        if found != SHAPES:
            raise BadInput(f"{file}: weights have shapes {found}, expected {SHAPES}")
        if not all(np.isfinite(one).all() for one in weights.values()):
            raise BadInput(f"{file}: holds weights that are no numbers")
        return cls(weights, content.get("training", {}))


def _sigmoid(values: Floats) -> Floats:
    return np.asarray(1.0 / (1.0 + np.exp(-values)))
