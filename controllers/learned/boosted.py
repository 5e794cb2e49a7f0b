"""Boosted trees per flow, compiled."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from testbed.controller import CompiledController, Table

from .trees import BoostedTrees


class BoostedController(CompiledController):
    """What decides by trees: ``self.seen`` is the features, which the class declares with their number."""

    feature: Table  # shape (trees, depth)
    border: Table  # the same; floats, as CatBoost compares
    leaves: Table  # shape (trees, 2^depth)
    bias: float
    if TYPE_CHECKING:
        seen: list[float]

    def ask(self, trees: BoostedTrees) -> None:
        """Decide by these; for ``__init__``."""
        self.feature, self.leaves, self.bias = trees.feature, trees.leaves, trees.bias
        self.border = trees.border.astype(np.float32).astype(np.float64)

    def answer(self) -> float:
        """What `BoostedTrees.decide` makes of the features, which are rounded to floats, as CatBoost has them."""
        for one in range(len(self.seen)):
            self.seen[one] = float(np.float32(self.seen[one]))
        total = self.bias
        for tree in range(self.leaves.shape[0]):
            leaf = 0
            for bit in range(self.feature.shape[1]):
                leaf |= int(self.seen[self.feature[tree, bit]] > self.border[tree, bit]) << bit
            total += self.leaves[tree, leaf]
        return total
