"""The flows of a `PathChooser`: C asks it about every packet (testbed/agent/paths.h)."""

from __future__ import annotations

from typing import Any

from testbed.base.arrays import Ints
from testbed.chooser import ENTROPIES, PathChooser
from testbed.compiled.records import Records
from testbed.controller import Paths
from testbed.errors import UnusableDecision
from testbed.plugin import PluginConfig

MULTIPLIER, SEEDS = 2654435761, 2**32 - 1


class Choosers(Records):
    """Runs a `PathChooser` class for flows with these paths, ``numbers`` in the whole rack."""

    def __init__(
        self, form: type[PathChooser], config: PluginConfig, paths: Paths, numbers: Ints, *, seed: int, compiled: bool
    ) -> None:
        seeds = [(seed * MULTIPLIER + (flow + 1) * 40503) % SEEDS + 1 for flow in numbers.tolist()]  # xorshift: not 0
        super().__init__(form, config, paths, compiled, seeds)

    @staticmethod
    def _unusable(callback: Any, *decided: Any) -> UnusableDecision:
        return UnusableDecision(callback, f"set entropy {decided[0]}; expected 0 to {ENTROPIES - 1}")
