"""The lab engine: an experiment over the wires of real hosts, in real time (`testbed run --inventory FILE`)."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

from testbed.capture.files import Capture
from testbed.engines.engine import Prepared, Stoppable
from testbed.engines.lab import fits
from testbed.engines.lab.inventory import Inventory
from testbed.engines.lab.overview import Overview
from testbed.engines.lab.run import Crowd
from testbed.engines.lab.verdict import complete
from testbed.errors import TestbedError
from testbed.experiment.resolved import Resolved
from testbed.live.collect import Collector
from testbed.live.observers import Observer
from testbed.live.scene import Groups
from testbed.live.snapshot import Snapshot
from testbed.live.snapshots import scene, snapshot
from testbed.live.updates import update
from testbed.results.record import EngineName, RunRecord

LATE_SECONDS = 10.0  # that hosts may take to end after the experiment is over
SHOWN_SECONDS = 0.2


class LabEngine:
    """The first hosts of an inventory, as many as the experiment has."""

    name: EngineName = "lab"

    def __init__(self, inventory: Inventory, playbook: bool = True) -> None:
        """``playbook``: whether Ansible looks first that the hosts have the testbed that is here, or pushes it."""
        self.inventory = inventory
        self.playbook = playbook

    def check(self, resolved: Resolved) -> None:
        """Raises BadInput if the experiment, or its number of hosts, does not fit."""
        fits.check(resolved, self.inventory)
        self.inventory.first(resolved.experiment.hosts)

    def prepare(self, resolved: Resolved, observer: Observer) -> Prepared:
        """Have Ansible look after the hosts."""
        from testbed.engines.lab import playbook

        chosen = self.inventory.first(resolved.experiment.hosts)
        if self.playbook:
            observer.on_stage(f"Ansible prepares {', '.join(host.name for host in chosen.hosts)}")
            playbook.prepare(chosen)
        delay = chosen.common.testbed_feedback_delay
        features = {"delay_by": "wires and delay-line" if delay else "wires", "forwarding": "the lab's switches"}
        return Prepared(resolved, features, tuned=False)

    def follow(
        self, prepared: Prepared, observer: Observer, running: list[Stoppable], name: str, captures: Sequence[Capture]
    ) -> RunRecord:
        """Run it; nothing is left on the hosts afterwards."""
        assert not captures, "they are refused on the command line"
        overview = Overview(prepared.resolved, self.inventory.first(prepared.resolved.experiment.hosts))
        run = LabRun(overview, observer, name)
        running.append(run)
        observer.on_fork()
        try:
            with Crowd(overview) as crowd:
                return run.follow(crowd)
        finally:
            running.clear()
            observer.on_stop()


class LabRun:
    """What is going on."""

    def __init__(self, overview: Overview, observer: Observer, name: str) -> None:
        self.overview, self.observer, self.name = overview, observer, name
        self._asked = ""

    def ask_to_stop(self, reason: str) -> None:
        """End it early and report what there is."""
        self._asked = reason

    def follow(self, crowd: Crowd) -> RunRecord:
        """All steps. Raises TestbedError if it did not come to a beginning."""
        overview = self.overview
        names = (f"{session.name} is {session.host.name}" for session in crowd.sessions)
        self.observer.on_stage(", ".join(names))
        crowd.greet()
        for what, step in (
            ("looking at the hosts", crowd.examine),
            ("attaching the NIC programs", crowd.attach),
            ("measuring base RTTs", crowd.measure),
            ("starting the agents", crowd.launch),
        ):
            if self._asked:
                raise TestbedError(f"{self._asked}: nothing was run")
            self.observer.on_stage(what)
            step()
        collector = Collector(overview, overview.series, overview)
        self._scene = replace(scene(overview), run=self.name)
        self.observer.on_begin(self._scene)
        crowd.begin()
        interrupted = self._until_the_end(crowd, collector)
        self.observer.on_stage("gathering what the hosts have counted")
        if interrupted:
            crowd.stop()
        crowd.gather()
        record = _record(collector, overview, interrupted or crowd.lost)
        crowd.leave()
        complete(record, overview, crowd)
        return record

    def _until_the_end(self, crowd: Crowd, collector: Collector) -> str:
        """Why it ended early; empty if it did not."""
        overview = self.overview
        groups, before = Groups(overview.plan), None
        duration, warmup = overview.experiment.time.duration, overview.experiment.time.warmup
        while True:
            crowd.hear(time.monotonic() + SHOWN_SECONDS)
            now = overview.clock.now()
            overview.series.time.append(now)
            if now >= warmup:
                collector.window_begins(now)
            before = self._show(collector, groups, before, now)
            if crowd.lost or self._asked:
                return crowd.lost or self._asked
            if crowd.finished():
                return ""
            if now > duration + LATE_SECONDS:
                return f"hosts did not end within {LATE_SECONDS:g} s of the experiment's end"

    def _show(self, collector: Collector, groups: Groups, before: Snapshot | None, now: float) -> Snapshot:
        overview = self.overview
        shown = snapshot(overview, collector, groups, overview.network.sample(0), now)
        if before:
            self.observer.on_progress(shown, update(self._scene, before, shown))
        return shown


def _record(collector: Collector, overview: Overview, interrupted: str) -> RunRecord:
    """The record, with what the hosts themselves noted when the warm-up was over."""
    acked, rtt = overview.flows.acked_payload * 0, overview.meters[0].rtt.counts * 0
    told = False
    for mirror, part in zip(overview.mirrors, overview.parts, strict=True):
        window = mirror.part("window.")
        if "acked" in window and mirror.flows is not None:
            acked[part] = window["acked"]
            rtt = rtt + window.get("rtt", 0)
            told = True
    if told:
        collector.window_began(overview.experiment.time.warmup, acked, rtt)
    return collector.record(interrupted)
