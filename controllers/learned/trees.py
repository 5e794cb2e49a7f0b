"""A policy as boosted oblivious trees: its file, and its value in numpy.

A tree of depth d asks the same d questions ``feature > border`` of everybody; the answers are the bits of a leaf's
number, and the leaves of all trees are summed. `boosted` has the controllers that do so per flow.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import reduce
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from testbed.base.arrays import Floats, Ints
from testbed.errors import BadInput

from .files import read_policy, write_json


@dataclass(frozen=True)
class BoostedTrees:
    """Columns of shape (t, depth) for the questions and (t, 2^depth) for the leaves. A policy's own names its file."""

    feature: Ints
    border: Floats
    leaves: Floats
    bias: float
    training: dict[str, Any] = field(default_factory=dict)

    format: ClassVar[str]
    version: ClassVar[int] = 1
    features: ClassVar[int]  # numbers that questions are about
    hints: ClassVar[Mapping[str, str]] = {}  # of `read_policy`

    def decide(self, features: Floats) -> Floats:
        """Sums, shape (k,), of features of shape (k, f); to the last bit as `boosted`, which adds in this order."""
        seen = features.astype(np.float32)  # as CatBoost compares
        terms = reached(self.leaves, leaf_numbers(self.feature, self.border.astype(np.float32), seen))
        return np.asarray(reduce(np.add, terms.T, self.bias))

    def save(self, file: Path) -> None:
        """Write the file, whole or not at all."""
        content = {
            "format": self.format,
            "version": self.version,
            "bias": self.bias,
            "feature": self.feature.tolist(),
            "border": self.border.tolist(),
            "leaves": self.leaves.tolist(),
            "training": self.training,
        }
        write_json(file, content)

    @classmethod
    def load(cls, file: Path) -> Self:
        """Raises BadInput if the file does not hold such trees."""
        content = read_policy(file, cls.format, cls.version, cls.hints)
        try:
            trees = cls(
                np.array(content["feature"], np.int64),
                np.array(content["border"], float),
                np.array(content["leaves"], float),
                float(content["bias"]),
                content.get("training", {}),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise BadInput(f"{file} is damaged: {type(error).__name__}: {error}") from None
        trees._check(file)
        return trees

    def _check(self, file: Path) -> None:
        shape = self.feature.shape
        if len(shape) != 2 or self.border.shape != shape or self.leaves.shape != (shape[0], 1 << shape[1]):
            raise BadInput(
                f"{file}: features {shape}, borders {self.border.shape} and leaves {self.leaves.shape} do not fit "
                "together; expected (trees, depth) twice and (trees, 2^depth)"
            )
        if not (np.isin(self.feature, range(self.features)).all()):
            raise BadInput(f"{file}: asks for a feature that there is not; there are {self.features}")
        if not (np.isfinite(self.border).all() and np.isfinite(self.leaves).all() and np.isfinite(self.bias)):
            raise BadInput(f"{file}: holds borders or leaves that are no numbers")

    @classmethod
    def of(cls, model: Any, training: dict[str, Any]) -> Self:
        """From a trained CatBoost model, through its JSON form."""
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "model.json"
            model.save_model(str(file), format="json")
            content = json.loads(file.read_text())
        scale, bias = content["scale_and_bias"]
        trees = content["oblivious_trees"]
        borders = [[split["border"] for split in tree["splits"]] for tree in trees]
        features = [[split["float_feature_index"] for split in tree["splits"]] for tree in trees]
        leaves = [[scale * leaf for leaf in tree["leaf_values"]] for tree in trees]
        return cls(np.array(features), np.array(borders, float), np.array(leaves, float), float(bias[0]), training)


def leaf_numbers(feature: Ints, border: NDArray[Any], seen: NDArray[Any]) -> Ints:
    """Which leaf of each tree is reached, shape (k, t), by ``seen`` features of shape (k, f)."""
    columns = np.ascontiguousarray(seen.T)
    leaf = np.zeros((len(feature), len(seen)), np.int64)
    for bit in reversed(range(feature.shape[1])):
        leaf <<= 1
        leaf |= columns[feature[:, bit]] > border[:, bit, None]
    return leaf.T


def reached(leaves: NDArray[Any], leaf: Ints) -> NDArray[Any]:
    """The leaf of each tree that was reached, shape (k, t)."""
    return np.asarray(leaves[np.arange(len(leaves)), leaf])
