"""ADPG's trees: their file, and how C asks them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from testbed.base.arrays import Floats

from ..learned.trees import BoostedTrees
from .network import RUNS
from .observation import FEATURES


@dataclass(frozen=True)
class Trees(BoostedTrees):
    """Multipliers from features of shape (k, 4)."""

    format: ClassVar = "adpg-trees"
    features: ClassVar = FEATURES
    hints: ClassVar = RUNS

    def in_c(self) -> tuple[int, Floats]:
        """For `rollout.Rollout`."""
        from .rollout import trees_in_c

        asked = np.stack((self.feature, self.border.astype(np.float32)), axis=2).reshape(len(self.leaves), -1)
        return trees_in_c(), np.concatenate(
            ([*self.feature.shape, self.bias], np.column_stack((asked, self.leaves)).reshape(-1))
        )
