"""The fluid model with what an agent keeps of its flows and its controller, for those who record and show a run."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from testbed.agent.columns import RTT_BINS_PER_OCTAVE as FLOW_RTT_BINS
from testbed.agent.columns import Flows
from testbed.agent.meter import Meter
from testbed.base.arrays import Ints
from testbed.controller import ABOVE_LINE, RateController
from testbed.engines.fluid.fluid import Fluid, Options
from testbed.engines.fluid.layout import FluidLayout
from testbed.engines.fluid.told import FLOW, RTT, SENT_BYTES
from testbed.errors import PluginFailed, UnusableDecision
from testbed.registry import Blaming, Plugin, refused
from testbed.results.record import RTT_BINS_PER_OCTAVE
from testbed.results.trace import FEEDBACK, SENT, START, TIMER, DecisionTrace


class MeteredFluid(Fluid):
    """Raises PluginFailed if the controller does. ``flows`` is up to date after `report`; packets are as many bytes."""

    def __init__(
        self,
        layout: FluidLayout,
        controller: RateController,
        options: Options,
        plugin: Plugin,
        trace: DecisionTrace,
    ) -> None:
        self.plugin = plugin
        self.flows = Flows(len(layout.host))
        self.flows.start[:] = layout.start
        self.meter = Meter(RTT_BINS_PER_OCTAVE, trace)
        super().__init__(layout, controller, options, controller.signals)
        self._rtt, self._rtt_sum = np.array((self.flows.rtt, self.flows.rtt_sum))
        self._ce, self._cnps = np.zeros((2, len(self._rtt)), np.int64)
        core = self._core
        core.rtt_bins, core.rtt_per_octave = self.flows.rtt_counts.shape[1], FLOW_RTT_BINS
        core.point(rtt_now=self._rtt, rtt_sum=self._rtt_sum, rtt_least=self.meter.rtt.bottom, ce=self._ce)
        core.point(cnps=self._cnps, rtt_counts=self.flows.rtt_counts, decisions=self.meter.decisions)
        self._called: Callable[..., None] = self.controller.on_start  # last

    def report(self) -> None:
        """Bring all columns up to date."""
        flows, wire, payload = self.flows, self.layout.wire_size, self.layout.payload
        flows.rate[:] = np.where(np.isinf(self.starts), self.controller.rate, 0.0)  # of those that have started
        flows.window[:] = self.controller.window
        flows.finished[:] = self.finished
        flows.rtt[:], flows.rtt_sum[:], flows.ce[:], flows.cnps[:] = self._rtt, self._rtt_sum, self._ce, self._cnps
        flows.acked_payload[:] = self.acked * (payload / wire)
        flows.acked_wire[:] = self.acked
        for column, amount in ((flows.sent, self.sent), (flows.acked, self.acked), (flows.lost, self.lost)):
            column[:] = np.rint(amount / wire)
        flows.inflight[:] = np.rint((self.sent - self.acked - self.lost) / wire)

    def on_start(self, now: float, flows: Ints) -> None:
        self.meter.trace.record(START, now, len(flows), flows)
        # what the controller does with its arguments is its own business
        self._call(self.controller.on_start, super().on_start, flows.copy(), now, flows)

    def on_timer(self, now: float, flows: Ints) -> None:
        self.meter.trace.record(TIMER, now, len(flows), flows)
        self._call(self.controller.on_timer, super().on_timer, flows.copy(), now, flows)

    def on_sent(self, now: float, rows: int) -> None:
        if self.meter.trace.goes_on:
            self.meter.trace.record(SENT, now, rows, self.told.ints[[FLOW, SENT_BYTES], :rows])
        self._call(self.controller.on_sent, super().on_sent, self.told.ints[FLOW, :rows], now, rows)

    def on_feedback(self, now: float, rows: int) -> None:
        meter, told = self.meter, self.told
        self._library.meter(self._core.address, rows)
        if meter.trace.goes_on:
            meter.trace.record(FEEDBACK, now, rows, told.ints[FLOW : RTT + 1, :rows], told.stack(rows))
        began = time.perf_counter()
        self._call(self.controller.on_feedback, super().on_feedback, told.ints[FLOW, :rows], now, rows)
        seconds = time.perf_counter() - began
        meter.decision_seconds += seconds
        meter.decision_times.add(seconds)

    def _call(
        self, callback: Callable[..., None], tell: Callable[..., None], own: Ints, now: float, told: Ints | int
    ) -> None:
        """By ``tell``, which calls the callback for these flows."""
        self._called = callback
        with Blaming(self.plugin):
            tell(now, told)
        controller = self.controller
        try:
            rate = controller.rate[own]
            if self.meter.trace.copy_to:
                self.meter.trace.decided(rate, controller.window[own], controller.timer[own])
            self.meter.counters[5] += np.count_nonzero(rate > self.layout.line_rate * ABOVE_LINE)
        except (AttributeError, TypeError, ValueError, IndexError) as error:
            raise self._no_columns(error) from error

    def apply_decisions(self) -> None:
        try:
            super().apply_decisions()
        except UnusableDecision as error:
            raise self._refused(str(error)) from error
        except (AttributeError, TypeError, ValueError) as error:
            raise self._no_columns(error) from error

    def _no_columns(self, error: Exception) -> PluginFailed:
        return self._refused(f"self.rate, window and timer must stay arrays, one number per flow: {error}")

    def _refused(self, why: str) -> PluginFailed:
        return refused(self.plugin, self._called, why)
