"""The flows of a `CreditController`: C asks it about what arrives at their receivers (testbed/agent/credits.h)."""

from __future__ import annotations

from typing import Any

import numpy as np

from testbed.base.arrays import Ints
from testbed.compiled.records import Records
from testbed.controller import Paths
from testbed.errors import UnusableDecision
from testbed.plugin import PluginConfig
from testbed.receiver import CreditController


class Receivers(Records):
    """Runs a `CreditController` class for flows with these paths."""

    def __init__(self, form: type[CreditController], config: PluginConfig, paths: Paths, *, compiled: bool) -> None:
        super().__init__(form, config, paths, compiled)
        asked = {path: form.unasked(config, path) for path in set(self.by_flow)}
        packets = {path: max(1, int(size // path.wire_size)) for path, size in asked.items()}
        self.unasked: Ints = np.array([packets[path] for path in self.by_flow])
        """Packets that each flow may send before it is granted any."""

    @staticmethod
    def _unusable(callback: Any, *decided: Any) -> UnusableDecision:
        window, timer = decided
        said = f"set window {window} bytes and timer {timer} s for a flow, or rate and window of its host"
        return UnusableDecision(
            callback,
            f"{said}; expected no negative window, a time or inf, and of hosts positive numbers, a finite rate",
        )
