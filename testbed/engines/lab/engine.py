"""The lab engine: an experiment over the wires of real hosts, in real time (`testbed run --inventory FILE`)."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

from testbed.capture.files import Capture
from testbed.engines.engine import Prepared, Stoppable
from testbed.engines.lab.operator import restrictions
from testbed.engines.lab.operator.host_group import HostGroup
from testbed.engines.lab.operator.inventory import Inventory
from testbed.engines.lab.operator.observed_run import ObservedRun
from testbed.engines.lab.operator.verdict import complete
from testbed.errors import TestbedError
from testbed.experiment.resolved import Resolved
from testbed.live.collect import Collector
from testbed.live.observers import Observer
from testbed.live.scene import Groups, Scene
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
        """``playbook``: whether Ansible first checks that the hosts have the testbed that is here, or pushes it."""
        self.inventory = inventory
        self.playbook = playbook

    def check(self, resolved: Resolved) -> None:
        """Raises BadInput if the experiment, or its number of hosts, does not fit."""
        restrictions.check(resolved, self.inventory)
        self.inventory.first(resolved.experiment.hosts)

    def prepare(self, resolved: Resolved, observer: Observer) -> Prepared:
        """Have Ansible bring the testbed to the hosts."""
        from testbed.engines.lab.operator import playbook

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
        observed = ObservedRun(prepared.resolved, self.inventory.first(prepared.resolved.experiment.hosts))
        run = LabRun(observed, observer, name)
        running.append(run)
        observer.on_fork()
        try:
            with HostGroup(observed) as group:
                return run.follow(group)
        finally:
            running.clear()
            observer.on_stop()


class LabRun:
    """A run that goes on."""

    def __init__(self, observed: ObservedRun, observer: Observer, name: str) -> None:
        self.observed, self.observer, self.name = observed, observer, name
        self._stop_reason = ""

    def ask_to_stop(self, reason: str) -> None:
        """End it early and report what there is."""
        self._stop_reason = reason

    def follow(self, group: HostGroup) -> RunRecord:
        """All steps. Raises TestbedError if it could not start."""
        observed = self.observed
        names = (f"{one.name} is {one.host.name}" for one in group.connections)
        self.observer.on_stage(", ".join(names))
        group.connect()
        for what, step in (
            ("inspecting the hosts", group.inspect),
            ("attaching the NIC programs", group.attach),
            ("measuring base RTTs", group.measure),
            ("starting the agents", group.launch),
        ):
            if self._stop_reason:
                raise TestbedError(f"{self._stop_reason}: nothing was run")
            self.observer.on_stage(what)
            step()
        collector = Collector(observed, observed.series, observed, apart=False)
        self._scene = _scene(observed, self.name)
        self.observer.on_begin(self._scene)
        group.start()
        interrupted = self._until_the_end(group, collector)
        self.observer.on_stage("collecting the hosts' records")
        if interrupted:
            group.stop()
        group.collect()
        record = _record(collector, observed, interrupted or group.lost)
        group.detach()
        complete(record, observed, group)
        return record

    def _until_the_end(self, group: HostGroup, collector: Collector) -> str:
        """Why it ended early; empty if it did not."""
        observed = self.observed
        groups, before = Groups(observed.plan, observed.resolved.deciding), None
        duration, warmup = observed.experiment.time.duration, observed.experiment.time.warmup
        while True:
            group.receive(time.monotonic() + SHOWN_SECONDS)
            now = observed.clock.now()
            observed.series.time.append(now)
            if now >= warmup:
                collector.window_begins(now)
            before = self._show(collector, groups, before, now)
            if group.lost or self._stop_reason:
                return group.lost or self._stop_reason
            if group.finished():
                return ""
            if now > duration + LATE_SECONDS:
                return f"hosts did not end within {LATE_SECONDS:g} s of the experiment's end"

    def _show(self, collector: Collector, groups: Groups, before: Snapshot | None, now: float) -> Snapshot:
        observed = self.observed
        shown = snapshot(observed, collector, groups, observed.network.sample(0), now)
        if before:
            self.observer.on_progress(shown, update(self._scene, before, shown))
        return shown


def _scene(observed: ObservedRun, name: str) -> Scene:
    """With the rates of the lab's ports, where an experiment has those of its links."""
    found = scene(observed)
    rates = zip(found.ports, observed.port_rate.tolist(), strict=True)
    return replace(found, run=name, ports=tuple(port._replace(rate=rate) for port, rate in rates))


def _record(collector: Collector, observed: ObservedRun, interrupted: str) -> RunRecord:
    """The record, with the hosts' own counters from the end of their warm-up."""
    acked, rtt = observed.flows.acked_payload * 0, observed.meters[0].rtt.counts * 0
    measured = False
    for report, part in zip(observed.reports, observed.flows_of, strict=True):
        window = report.recorded("window.")
        if "acked" in window and report.flows is not None:
            acked[part] = window["acked"]
            rtt = rtt + window.get("rtt", 0)
            measured = True
    if measured:
        collector.window_began(observed.experiment.time.warmup, acked, rtt)
    return collector.record(interrupted)
