"""DECC's trees: their file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..learned.trees import BoostedTrees
from .observation import FEATURES


@dataclass(frozen=True)
class Trees(BoostedTrees):
    """Actions from histories of shape (k, 25)."""

    format: ClassVar = "decc-trees"
    features: ClassVar = FEATURES
