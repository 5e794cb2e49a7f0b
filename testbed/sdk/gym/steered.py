"""A learned controller without its policy: what it observes waits until somebody acts."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from testbed.base.arrays import Floats, Ints
from testbed.compiled.flows import CompiledFlows
from testbed.controller import Feedback, Paths, RateController
from testbed.errors import BadInput
from testbed.learned import LearnedController, LearnedFlow, Numbers
from testbed.plugin import PluginConfig
from testbed.registry import Plugin, available


class Steered(RateController):
    """What a session steers. Columns have one row per flow."""

    observation: ClassVar[Numbers]
    action: ClassVar[Numbers]
    due: NDArray[np.bool_]  # whose interval is over
    seen: Floats  # what they observed, shape (n, size)

    @abstractmethod
    def reward(self, flows: Ints) -> Floats:
        """Of the intervals that are over, shape (k,)."""

    def steer(self, now: float, actions: Floats) -> Ints:
        """Act for the flows that are due; which they are."""
        due = np.flatnonzero(self.due)
        if len(due):
            one = self.action
            self.take(now, due, np.clip(np.asarray(actions, float)[due], one.low, one.high))
        self.due[:] = False
        return due

    @abstractmethod
    def take(self, now: float, flows: Ints, actions: Floats) -> None:
        """Act, shape (k, size)."""


class SteeredBatch(LearnedController, Steered):
    """Stands before the plugin's own class."""

    def __init__(self, config: PluginConfig, paths: Paths) -> None:
        super().__init__(config, paths)
        self.due = np.zeros(len(paths), bool)
        self.seen = np.zeros((len(paths), self.observation.size))

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

    def take(self, now: float, flows: Ints, actions: Floats) -> None:
        self.act(now, flows, actions)


class SteeredFlows(Steered):
    """The plugin's own class per flow, as machine code: columns are those of its records."""

    form: ClassVar[type[LearnedFlow]]

    def __init__(self, config: PluginConfig, paths: Paths) -> None:
        """Raises BadInput if it cannot be compiled."""
        self.flows = flows = CompiledFlows(self.form, config, paths, True)
        if flows.objects:
            raise BadInput(f"controller '{self.form.name}' can be trained as machine code alone: install numba")
        self.config, self.paths = config, paths
        self.rate, self.window, self.timer = (np.array(one) for one in (flows.rate, flows.window, flows.timer))
        flows.initial["trained"] = flows.records["trained"] = True
        self.due, self.seen = flows.records["due"], flows.records["seen"]

    def on_start(self, now: float, flows: Ints) -> None:
        self.flows.on_start(now, flows)
        self._decided(flows)

    def on_feedback(self, now: float, flows: Ints, feedback: Feedback) -> None:
        self.flows.on_feedback(now, flows, feedback)
        self._decided(flows)

    def on_sent(self, now: float, flows: Ints, sent_bytes: Ints) -> None:
        self.flows.on_sent(now, flows, sent_bytes)
        self._decided(flows)

    def reward(self, flows: Ints) -> Floats:
        return np.asarray(self.flows.records["gained"][flows])

    def take(self, now: float, flows: Ints, actions: Floats) -> None:
        self.flows.records["wanted"][flows] = actions[:, 0]
        self.flows.on_timer(now, flows)
        self._decided(flows)

    def _decided(self, flows: Ints) -> None:
        """Agents read columns of their own, not those of records."""
        one = self.flows
        self.rate[flows], self.window[flows], self.timer[flows] = one.rate[flows], one.window[flows], one.timer[flows]


def steered(plugin: Plugin) -> Plugin:
    """The plugin, steered. Raises BadInput if it declares no observation."""
    form = cast(type[Any], plugin.form)
    named: dict[str, Any] = {"__module__": form.__module__, "__doc__": form.__doc__}
    if issubclass(form, LearnedController):
        return replace(plugin, form=type(form.__name__, (SteeredBatch, form), named))
    if issubclass(form, LearnedFlow):
        kept = ("name", "signals", "Config", "presets", "observation", "action", "inputs", "cnp_interval")
        named |= {"form": form, **{name: getattr(form, name) for name in kept}}
        return replace(plugin, form=type(form.__name__, (SteeredFlows,), named))
    able = [one.name for one in available("controller") if issubclass(one.form, LearnedController | LearnedFlow)]
    raise BadInput(
        f"controller '{plugin.name}' declares no observation and no action, so that nobody can act for it; "
        f"these do: {', '.join(able)}"
    )
