"""One run of the fluid model: as many steps as the experiment is long, samples in between, and a record at the end."""

from __future__ import annotations

import math
import time
from dataclasses import replace

from testbed.engines.fluid.view import FluidView
from testbed.errors import PluginFailed
from testbed.fidelity.verdict import RATES_ABOVE_LINE
from testbed.live.collect import Collector
from testbed.live.observers import Observer
from testbed.live.recorder import PORT_COLUMNS, Recorder, largest
from testbed.live.scene import Groups
from testbed.live.snapshot import Snapshot
from testbed.live.snapshots import scene, snapshot
from testbed.live.updates import update
from testbed.results import decisions
from testbed.results.record import Lag, Lateness, RunRecord

SHOWN_SECONDS = 0.2


class FluidRun:
    """What is going on."""

    def __init__(self, view: FluidView, observer: Observer, name: str) -> None:
        self.view, self.observer = view, observer
        self.fluid, self.experiment = view.fluid, view.resolved.experiment
        chosen = largest(view.layout.plan.size, self.experiment.record.flows)
        self.recorder = Recorder(view.flows, chosen, view.network, view.layout.framing.wire_size)
        self.collector = Collector(view, self.recorder, view)
        self._groups = Groups(view.layout.plan, view.resolved.deciding)
        self._scene = replace(scene(view), run=name, dilation=None, engine="fluid")
        self._shown: Snapshot | None = None
        self._next_shown = 0.0
        self._asked = ""

    def ask_to_stop(self, reason: str) -> None:
        """End it early and report what there is."""
        self._asked = reason

    def follow(self) -> RunRecord:
        """To its end, until it is asked to stop, or until a plugin fails."""
        began = time.monotonic()
        self.observer.on_begin(self._scene)
        try:
            self._go_on()
        except PluginFailed as error:
            self._asked = str(error)
        if self.recorder.time[-1] < self.fluid.now:
            self._sample()
        record = self.collector.record(self._asked)
        record.wall_seconds = time.monotonic() - began
        self._complete(record)
        return record

    def _go_on(self) -> None:
        fluid, tuning, network = self.fluid, self.view.tuning, self.view.network
        step = fluid.options.step
        every = max(1, round(self.experiment.record.interval / step))
        self._sample()
        tuning.step(0.0, 0)  # the first slots begin
        for number in range(1, max(round(self.experiment.time.end / step), 2) + 1):
            fluid.step()
            network.note()
            if fluid.now >= tuning.next_slot:
                tuning.step(fluid.now, round(fluid.now * 1e9))
            if number % every == 0:
                self._sample()
                if fluid.now >= self.collector.next_look and self.collector.rests(fluid.now):
                    return
            if self._asked:
                return

    def _sample(self) -> None:
        now = self.fluid.now
        self.fluid.report()
        self.recorder.sample(round(now * 1e9), now)
        if now >= self.collector.next_window:
            self.collector.window_begins(now)
        if time.monotonic() >= self._next_shown:
            self._next_shown = time.monotonic() + SHOWN_SECONDS
            self._show(now)

    def _show(self, now: float) -> None:
        before = self._shown
        series = self.recorder.port_series()
        ports = {name: getattr(series, name)[-1] for name in PORT_COLUMNS}
        self._shown = snapshot(self.view, self.collector, self._groups, ports, now)
        if before:
            self.observer.on_progress(self._shown, update(self._scene, before, self._shown))

    def _complete(self, record: RunRecord) -> None:
        """What the model alone knows, and what it cannot know."""
        view = self.view
        record.counters = {RATES_ABOVE_LINE: record.counters[RATES_ABOVE_LINE]}
        unknown = Lag(record.late.pacing_lag.histogram, math.nan)
        record.late = Lateness(unknown, unknown)
        record.late_at_start = None
        record.tuners = view.tuning.ended()
        record.loaded_plugins = [one.as_dict() for one in view.identities()]
        if self.experiment.record.decisions:
            record.decisions_file = decisions.encode([view.served()])
            record.decisions_kept = decisions.kept([view.served()])
