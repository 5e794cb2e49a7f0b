"""One run inside its sandbox: build the rack, calibrate it, start the agents, record, end.

Everything here happens in a process that the kernel will remove with all it has made. Progress and the finished
`RunRecord` are sent out through a connection.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from functools import partial
from multiprocessing.connection import Connection

from testbed.agent.meter import Meter
from testbed.agent.tasks import TaskGraph
from testbed.capture.files import Capture
from testbed.capture.output import About
from testbed.capture.recording import Recording
from testbed.capture.tap import Interface
from testbed.clock import Clock
from testbed.controller import Signal
from testbed.engines.apps.inside import hosts_file
from testbed.engines.apps.running import RunningApps
from testbed.engines.changes import Changes, accept
from testbed.engines.kernel.agents import Agents
from testbed.engines.kernel.assembly import Assembly
from testbed.engines.kernel.calibration.calibration import calibrate
from testbed.engines.kernel.calibration.measured import Measured
from testbed.engines.kernel.faults.fault import NO_FAULT, Fault
from testbed.engines.kernel.gather import drain, gather, pauses_of
from testbed.engines.kernel.network import RackNetwork
from testbed.engines.kernel.queue_watch import QueueWatch
from testbed.engines.nodes import publish
from testbed.errors import PluginFailed
from testbed.experiment.events import Event, EventSchedule
from testbed.experiment.resolved import Resolved
from testbed.fidelity.counters import Counts
from testbed.fidelity.deadlocked import deadlocked
from testbed.fidelity.invariants import broken
from testbed.fidelity.processors import Processors
from testbed.live.collect import Collector
from testbed.live.edit import Accepting
from testbed.live.recorder import Recorder, largest
from testbed.live.snapshots import Live, scene
from testbed.results import decisions
from testbed.results.record import RunRecord
from testbed.units import show_time

log = logging.getLogger(__package__)
PATIENCE = 10.0  # wall seconds that agents may take to end after the run is over


class Emulation:
    """A run in a rack; see `testbed.live.observed.Observed`."""

    def __init__(
        self, resolved: Resolved, use_netem: bool, fault: Fault = NO_FAULT, captures: Sequence[Capture] = ()
    ) -> None:
        self.resolved = resolved
        self.layout = resolved.layout
        self.experiment = resolved.experiment
        self.fault = fault
        self.captures = captures
        self.rack = Assembly(resolved, use_netem)
        self.flows = self.rack.flows
        self.agents = Agents(self.rack, fault)

    @property
    def clock(self) -> Clock:
        """Nominal time, once it has begun."""
        return self.rack.clock

    @property
    def tasks(self) -> TaskGraph | None:
        """Who waits for whom."""
        return self.agents.tasks

    @property
    def meters(self) -> Sequence[Meter]:
        """One per agent."""
        return self.agents.meters

    def build(self) -> None:
        """Rack, programs and agents, ready to begin."""
        self.rack.build(self.agents.rings, self.fault.ring_size)
        self.rack.receive_on_spare_cores(len(self.agents.parts))
        self.rack.net.wait_until_active()
        self.network = RackNetwork(self.rack)
        self.calibration = self._calibrate()
        self.rack.nic.trim(on=True)
        self.rack.slow_down()
        self.agents.launch()
        self.delaying = self.rack.delay_apps()
        hosts = [(host.name, host.IP()) for host in self.rack.net.hosts]
        self.apps = RunningApps(self.experiment, self.clock, self._netns, hosts_file(hosts))

    def _netns(self, host: str) -> int:
        return int(self.rack.net[host].netns)

    def _calibrate(self) -> list[Measured]:
        """Is the rack as configured? The counters start at 0 afterwards."""
        self.fault.on_built(self.rack)
        if self.experiment.rack.calibrate == "off":
            return []
        began = time.monotonic()
        measured = calibrate(self.rack)
        for one in measured:
            values = {"expected": one.shown(one.expected), "measured": one.shown(one.measured)}
            log.info("calibrated", extra={"link": one.link, "what": one.what, **values})
        log.info("calibration passed", extra={"figures": len(measured), "seconds": time.monotonic() - began})
        drain(self.rack)
        self.rack.reset()
        return measured

    def run(self, connection: Connection) -> RunRecord:
        """From the first packet to the end of the experiment, or of patience."""
        experiment, rack, pool = self.experiment, self.rack, self.agents.pool
        recording, recorder = self._recording(), self._recorder()
        watch = self._watch()
        pool.wait_ready()  # before cores are measured: what starts is busy
        collector = Collector(self, recorder, processors := Processors())
        schedule, accepting = self._schedule()
        live = Live(connection, self, collector, accepting)
        recorder.sample(time.monotonic_ns(), 0.0)  # all counts start from here
        self.apps.begin()
        rack.begin(pool.begin(self.clock.dilation))
        recording.begin(self.clock)
        next_sample = 0.0
        while True:
            now_ns, now = time.monotonic_ns(), self.clock.now()
            if sampled := now >= next_sample:
                next_sample = max(next_sample + experiment.record.interval, now)
                recorder.sample(now_ns, now)
                watch.sample(now)
                processors.sample()
            if now >= collector.next_window:
                collector.window_begins(now)
            if sampled:  # within the window, where a late one is in time for both
                self.fault.on_sample(rack, pool, now)
            schedule.step(now)
            self.apps.step(now)
            live.show()
            interrupted = (
                self._tune() or pool.failure() or self._apps_failure() or live.interrupted() or self._overdue(now)
            )
            if interrupted or self._finished(now) or (now >= collector.next_look and collector.rests(now)):
                break
            until = min(next_sample, collector.next_window, collector.next_look, rack.tuning.next_slot, schedule.next)
            until = min(until, self.apps.next, experiment.time.end)
            time.sleep(max(0.0, min(self.clock.wall_seconds(until - self.clock.now()), live.seconds_left())))
        interrupted = interrupted or pool.failure()
        pool.end()
        log.info("nominal time ends", extra={"at": show_time(self.clock.now()), "interrupted": interrupted or "no"})
        recorder.sample(time.monotonic_ns(), self.clock.now())
        processors.sample()  # the last window, which is the only one if nobody let this loop have a core
        record = collector.record(interrupted)
        record.apps = self.apps.end(self.clock.now())
        counts = self._drained(record, collector, watch)
        self._judge(record, counts)
        record.edits = schedule.added
        record.events = sorted([*schedule.done, *self._watched()], key=lambda event: event.time)
        record.tuners = rack.tuning.ended()
        record.captures = recording.end()
        return record

    def _judge(self, record: RunRecord, counts: Counts) -> None:
        """What all parties have counted, and who decided."""
        record.broken = broken(counts)
        record.queue_difference = counts.queue_difference
        record.calibration = [one.as_dict() for one in self.calibration]
        record.loaded_plugins = [one.as_dict() for one in counts.loaded_plugins]
        record.tcp = self.apps.tcp(self.layout.longest_rtt, record.duration)
        self._encode_decisions(record)
        if self.agents.tasks:
            self.agents.tasks.tell(record, self.layout.plan)

    def _apps_failure(self) -> str:
        return self.apps.failure() or (self.delaying.failure() if self.delaying else "")

    def _finished(self, now: float) -> bool:
        """Flows and apps; what is left of these at the end of the run is asked to end."""
        return self.agents.pool.finished() and (not self.apps.going_on or now >= self.experiment.time.end)

    def _drained(self, record: RunRecord, collector: Collector, watch: QueueWatch) -> Counts:
        """What has been counted once nothing is on its way."""
        rack = self.rack
        if self.experiment.rack.switch.deadlock == "allow":
            record.deadlock = deadlocked(record, self.layout)
        pauses, stuck = pauses_of(rack), bool(record.deadlock)
        log.info("drained", extra={"seconds": drain(rack, stuck=stuck)})
        collector.drained(record)
        if rack.lossless:
            rack.lossless.generator.end()
        watchdog = rack.lossless.watchdog if rack.lossless else None
        counts = gather(rack, self.agents, watch, record, self.clock.now())
        return counts.excused(pauses, stuck=stuck, defied=watchdog is not None and watchdog.defied)

    def _watched(self) -> list[Event]:
        """What the watchdog of pauses did."""
        watchdog = self.rack.lossless.watchdog if self.rack.lossless else None
        if watchdog is None:
            return []
        names = dict(zip(self.rack.queues.index.tolist(), self.layout.queue_names, strict=True))
        return watchdog.events(names, self.clock)

    def _schedule(self) -> tuple[EventSchedule, Accepting]:
        rack = self.rack
        changes = Changes(self.resolved, self.flows, rack.net, (rack.ports, rack.queues), self.agents.pool)
        schedule = EventSchedule(self.experiment.steps(), changes)
        return schedule, partial(accept, schedule, changes)

    def _recorder(self) -> Recorder:
        chosen, size = largest(self.layout.plan.size, self.experiment.record.flows), self.layout.framing.wire_size
        queues = self.rack.queues if self.rack.net.queues else None
        return Recorder(self.flows, chosen, self.rack.ports, size, queues=queues)

    def _encode_decisions(self, record: RunRecord) -> None:
        if self.experiment.record.decisions and self.agents.parts:
            served = self.agents.served()
            srcs = Signal.SRC in self.resolved.signals
            record.decisions_file = decisions.encode(served, srcs)
            record.decisions_kept = decisions.kept(served)

    def _recording(self) -> Recording:
        about = About(
            experiment=self.experiment.name,
            controller=self.resolved.title,
            numbered_by_host=self.rack.use_netem,
        )
        return Recording([(one, self._interface(one)) for one in self.captures], about)

    def _interface(self, capture: Capture) -> Interface:
        point, rack = capture.point, self.rack.net
        end = rack.ends[point.place] if point.kind == "port" else rack[point.place].defaultIntf()
        return Interface(end.node.netns, end.name, point.rate(self.layout.shape))

    def _watch(self) -> QueueWatch:
        rack, bottleneck = self.rack, self.layout.bottleneck
        reader = rack.net[self.layout.shape.ports[bottleneck].switch].queues
        return QueueWatch(reader, rack.ports, bottleneck, rack.net.ports[bottleneck])

    def _tune(self) -> str:
        """Let the tuner decide; if it failed, why. A slot ends when its counters are read, not when this step began."""
        try:
            self.rack.tuning.step(self.clock.now(), time.monotonic_ns())
        except PluginFailed as error:
            return str(error)
        return ""

    def _overdue(self, now: float) -> str:
        """Agents end by themselves; one that does not is blocked by its controller."""
        late = self.clock.wall_seconds(now - self.experiment.time.end)
        if late < PATIENCE:
            return ""
        return f"controller '{self.resolved.title}' did not return from a callback for {late:.0f} s"


def emulate(
    resolved: Resolved,
    use_netem: bool,
    connection: Connection,
    fault: Fault = NO_FAULT,
    *,
    captures: Sequence[Capture] = (),
    name: str = "",
) -> None:
    """What the sandbox runs. Sends ("stage", text), ("begin", Scene), ("snapshot", Snapshot), ("record", ...).

    A run with a name can be entered from outside: see `testbed.engines.nodes`.
    """
    emulation = Emulation(resolved, use_netem, fault, captures)
    connection.send(("stage", f"building {resolved.experiment.hosts} hosts"))
    emulation.build()
    if name:
        publish(name, emulation.rack.net.enterable())
    connection.send(("begin", scene(emulation)))
    connection.send(("record", emulation.run(connection)))
