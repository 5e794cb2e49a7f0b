"""An agent whose controller decides per flow: C asks it, and comes back when a flow has fallen silent."""

from __future__ import annotations

from typing import Protocol

from testbed.agent.agent import Agent, Timing
from testbed.agent.datapath import Datapath
from testbed.agent.decisions import Decisions
from testbed.agent.meter import Meter
from testbed.base.arrays import Ints
from testbed.clock import Clock
from testbed.compiled.askable import Askable
from testbed.errors import PluginFailed
from testbed.registry import Blaming, Plugin

LONGEST_SERVICE = 0.05  # wall seconds: signals are Python's to handle
IN_THE_PAST = "on_timer leaves the timer of a flow in the past: set the next time, or inf"


class Deciding(Protocol):
    """See `Decisions`."""

    @property
    def has_failed(self) -> bool: ...

    @property
    def steps(self) -> int: ...

    def time_out(self, flows: Ints, packets: Ints, now: float) -> None: ...

    def decide_due(self, now: float) -> None: ...

    def serve(self, until: float) -> bool: ...


class FlowAgent(Agent):
    """Hands the loop to the datapath."""

    def __init__(
        self,
        plugin: Plugin,
        clock: Clock,
        controller: Askable,
        datapath: Datapath,
        *,
        timing: Timing,
        meter: Meter,
    ) -> None:
        super().__init__(plugin, clock, datapath, timing=timing, meter=meter)
        self.controller = controller
        self._service = clock.nominal_seconds(LONGEST_SERVICE)
        own = Decisions(datapath, controller, meter, timing)
        self.decisions: Deciding = own
        self.record = own.record

    @property
    def steps(self) -> int:
        return self.decisions.steps

    def decide(self, now: float) -> None:
        self.decisions.decide_due(now)
        self._check()

    def time_out(self, now: float, flows: Ints, packets: Ints) -> None:
        self.decisions.time_out(flows, packets, now)
        self._check()

    def wait(self, now: float, until: float) -> None:
        endless = self.decisions.serve(min(until, now + self._service))
        self._check()
        if endless:
            raise PluginFailed(f"{self.plugin.title}: {IN_THE_PAST}")

    def _check(self) -> None:
        """Raises PluginFailed if the controller has failed."""
        if not self.decisions.has_failed:
            return
        with Blaming(self.plugin):
            self.controller.fail()
