"""Several controllers, each of which decides about some of the flows, as one."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from typing import Any, NoReturn

import numpy as np

from testbed.base.arrays import Floats, Ints
from testbed.compiled.askable import Askable
from testbed.compiled.flows import CompiledFlows
from testbed.controller import Feedback, IntStack, Paths, RateController
from testbed.plugin import PluginConfig
from testbed.registry import Blaming, Plugin


class Sharing(Askable):
    """Every part knows the paths of all flows and hears of its own. Raises PluginFailed, which names the plugin."""

    def __init__(
        self, makers: Sequence[tuple[Plugin, Callable[[Paths], RateController]]], decider: Ints, paths: Paths
    ) -> None:
        """``decider``: who decides about each flow; numbers in the ascending order of ``makers``."""
        super().__init__(PluginConfig(), paths)
        self.plugins = [plugin for plugin, _ in makers]
        self.parts = [make(paths) for _, make in makers]
        self.numbers, self.of = np.unique(decider, return_inverse=True)
        heard = functools.reduce(operator.or_, (part.signals for part in self.parts))
        self.signals = heard  # type: ignore[misc] # of this object
        self.rate: Floats = self._merged("rate")
        self.window: Floats = self._merged("window")
        self.timer: Floats = self._merged("timer")

        self.addresses = None
        found = [part.address for part in self.parts if isinstance(part, CompiledFlows)]
        if len(found) == len(self.parts):
            self.addresses = np.array(found)[self.of]

    def part(self, decider: int) -> RateController | None:
        """Of this number; None if it decides about no flow here."""
        return next((part for number, part in zip(self.numbers, self.parts, strict=True) if number == decider), None)

    def fail(self) -> NoReturn:
        """Raise PluginFailed: one that C has asked has failed."""
        for plugin, part in zip(self.plugins, self.parts, strict=True):
            if isinstance(part, CompiledFlows) and part.c.status:
                with Blaming(plugin):
                    part.fail()
        raise AssertionError("nothing has failed")

    def _merged(self, column: str) -> Floats:
        return np.choose(self.of, [getattr(part, column) for part in self.parts]).astype(float)

    def on_start(self, now: float, flows: Ints) -> None:
        self._tell(flows, lambda part, rows: part.on_start(now, flows[rows]))

    def on_feedback(self, now: float, flows: Ints, feedback: Feedback) -> None:
        self._tell(flows, lambda part, rows: part.on_feedback(now, flows[rows], _some(feedback, rows)))

    def on_timer(self, now: float, flows: Ints) -> None:
        self._tell(flows, lambda part, rows: part.on_timer(now, flows[rows]))

    def on_sent(self, now: float, flows: Ints, sent_bytes: Ints) -> None:
        self._tell(flows, lambda part, rows: part.on_sent(now, flows[rows], sent_bytes[rows]))

    def on_src(self, now: float, flows: Ints, age: Floats, queue: Floats, rate: Floats) -> None:
        """An SRC for each of the flows, which only those get who want them."""

        def tell(part: RateController, rows: Ints) -> None:
            assert isinstance(part, CompiledFlows)
            part.on_src(now, flows[rows], age[rows], queue[rows], rate[rows])

        self._tell(flows, tell)

    def _tell(self, flows: Ints, what: Callable[[RateController, Ints], None]) -> None:
        of = self.of[flows]
        for number, part in enumerate(self.parts):
            rows = np.flatnonzero(of == number)
            if not len(rows):
                continue
            with Blaming(self.plugins[number]):
                what(part, rows)
            told = flows[rows]
            for column in ("rate", "window", "timer"):
                getattr(self, column)[told] = getattr(part, column)[told]


def _some(feedback: Feedback, rows: Ints) -> Feedback:
    columns: dict[str, Any] = {one.name: getattr(feedback, one.name) for one in fields(Feedback)}
    stack = columns.pop("int_stack")
    told: dict[str, Any] = {name: column if column is None else column[rows] for name, column in columns.items()}
    some = IntStack(*(getattr(stack, one.name)[rows] for one in fields(IntStack))) if stack is not None else None
    return Feedback(**told, int_stack=some)


def configured(controller: RateController, decider: int, options: Mapping[str, Any]) -> None:
    """One of the controllers has other options from now on."""
    part = controller.part(decider) if isinstance(controller, Sharing) else controller
    if isinstance(part, CompiledFlows):
        part.configure(type(part.config)(**options))
