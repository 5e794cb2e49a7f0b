"""DECC by boosted trees: `decc`."""

from __future__ import annotations

from testbed.controller import Path

from ..learned.boosted import BoostedController
from .controller import POLICIES, DeccConfig, DeccForm
from .tree import Trees


class Decc(DeccForm, BoostedController):
    """DECC: boosted trees made from its pruned and quantised network."""

    name = "decc"
    shipped = POLICIES / "trees.json"

    def __init__(self, config: DeccConfig, path: Path) -> None:
        super().__init__(config, path)
        self.ask(self.load(config))

    @classmethod
    def load(cls, config: DeccConfig) -> Trees:
        return Trees.load(cls.file(config))

    def policy(self) -> float:
        return self.answer()
