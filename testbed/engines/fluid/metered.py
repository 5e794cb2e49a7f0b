"""The fluid model with what an agent keeps of its flows and its controller, for those who record and show a run."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from testbed.agent.columns import RTT_BINS_PER_OCTAVE as FLOW_RTT_BINS
from testbed.agent.columns import Flows
from testbed.agent.histogram import bins
from testbed.agent.meter import Meter
from testbed.base.arrays import Ints
from testbed.controller import ABOVE_LINE, Feedback, RateController
from testbed.engines.fluid.fluid import Fluid, Options
from testbed.engines.fluid.layout import FluidLayout
from testbed.errors import PluginFailed, UnusableDecision
from testbed.registry import Blaming, Plugin, refused
from testbed.results.record import RTT_BINS_PER_OCTAVE
from testbed.results.trace import FEEDBACK, SENT, START, TIMER, DecisionTrace, feedback_row


class MeteredFluid(Fluid):
    """Raises PluginFailed if the controller does. ``flows`` is up to date after `report`; packets are as many bytes."""

    def __init__(
        self,
        layout: FluidLayout,
        make: Callable[[], RateController],
        options: Options,
        plugin: Plugin,
        trace: DecisionTrace,
    ) -> None:
        self.plugin = plugin
        self.flows = Flows(len(layout.host))
        self.flows.start[:] = layout.start
        self.meter = Meter(RTT_BINS_PER_OCTAVE, trace)
        super().__init__(layout, make, options)
        self.signals = self.controller.signals
        self._called: Callable[..., None] = self.controller.on_start  # last

    def report(self) -> None:
        """Bring all columns up to date."""
        flows, wire, payload = self.flows, self.layout.wire_size, self.layout.payload
        flows.rate[:] = np.where(np.isinf(self.starts), self.controller.rate, 0.0)  # of those that have started
        flows.window[:] = self.controller.window
        flows.finished[:] = self.finished
        flows.acked_payload[:] = self.acked * (payload / wire)
        flows.acked_wire[:] = self.acked
        for column, amount in ((flows.sent, self.sent), (flows.acked, self.acked), (flows.lost, self.lost)):
            column[:] = np.rint(amount / wire)
        flows.inflight[:] = np.rint((self.sent - self.acked - self.lost) / wire)

    def on_start(self, now: float, flows: Ints) -> None:
        self.meter.trace.record(START, now, len(flows), flows)
        self._call(self.controller.on_start, now, flows)

    def on_sent(self, now: float, flows: Ints, sent_bytes: Ints) -> None:
        if self.meter.trace.goes_on:
            self.meter.trace.record(SENT, now, len(flows), np.concatenate((flows, sent_bytes)))
        self._call(self.controller.on_sent, now, flows, sent_bytes)

    def on_timer(self, now: float, flows: Ints) -> None:
        self.meter.trace.record(TIMER, now, len(flows), flows)
        self._call(self.controller.on_timer, now, flows)

    def on_feedback(self, now: float, flows: Ints, feedback: Feedback) -> None:
        meter = self.meter
        self._count(flows, feedback)
        if meter.trace.goes_on:
            meter.trace.record(FEEDBACK, now, len(flows), feedback_row(flows, feedback), feedback.int_stack)
        meter.decisions += (1, len(flows))
        began = time.perf_counter()
        self._call(self.controller.on_feedback, now, flows, feedback)
        seconds = time.perf_counter() - began
        meter.decision_seconds += seconds
        meter.decision_times.add(seconds)

    def _count(self, told: Ints, feedback: Feedback) -> None:
        """What a flow hears: the packets that are acknowledged had the RTT of the probe."""
        flows, rtt, packets = self.flows, feedback.rtt, feedback.acked_packets
        smallest = self.meter.rtt.bottom
        smallest[0] = min(smallest[0], rtt.min())
        flows.rtt[told] = rtt
        flows.rtt_sum[told] += rtt * packets
        flows.rtt_counts[told, bins(rtt, FLOW_RTT_BINS)] += packets
        flows.ce[told] += feedback.ce_packets
        flows.cnps[told] += feedback.cnps

    def _call(self, callback: Callable[..., None], now: float, flows: Ints, *told: object) -> None:
        self._called = callback
        own = flows.copy()  # what the controller does with its arguments is its own business
        with Blaming(self.plugin):
            callback(now, flows, *told)
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
