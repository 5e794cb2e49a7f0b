"""A learned controller without its policy: what it observes waits until somebody acts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import numpy as np

from testbed.base.arrays import Floats, Ints
from testbed.controller import Feedback, Paths
from testbed.errors import BadInput
from testbed.learned import LearnedController, Numbers
from testbed.plugin import PluginConfig
from testbed.registry import Plugin, available


class Steered(LearnedController):
    """Stands before the plugin's own class. Columns have one row per flow."""

    def __init__(self, config: PluginConfig, paths: Paths) -> None:
        super().__init__(config, paths)
        self.due = np.zeros(len(paths), bool)  # whose interval is over
        self.seen: Floats = np.zeros((len(paths), self.observation.size))

    @classmethod
    def load(cls, config: Any) -> None:
        """Nothing."""

    def on_feedback(self, now: float, flows: Ints, feedback: Feedback) -> None:
        due, rows = self.observe(now, flows, feedback)
        if not len(due):
            return
        self.due[due] = True
        self.seen[due] = rows

    def on_start(self, now: float, flows: Ints) -> None:
        super().on_start(now, flows)
        self.due[flows] = False

    def steer(self, now: float, actions: Floats) -> Ints:
        """Act for the flows that are due; which they are."""
        due = np.flatnonzero(self.due)
        if len(due):
            one: Numbers = self.action
            self.act(now, due, np.clip(np.asarray(actions, float)[due], one.low, one.high))
        self.due[:] = False
        return due


def steered(plugin: Plugin) -> Plugin:
    """The plugin with `Steered` before its class. Raises BadInput if it declares no observation."""
    if not issubclass(plugin.form, LearnedController):
        able = [one.name for one in available("controller") if issubclass(one.form, LearnedController)]
        raise BadInput(
            f"controller '{plugin.name}' declares no observation and no action, so that nobody can act for it; "
            f"these do: {', '.join(able)}"
        )
    form = cast(type[Any], plugin.form)
    return replace(
        plugin, form=type(form.__name__, (Steered, form), {"__module__": form.__module__, "__doc__": form.__doc__})
    )
