"""One run inside its sandbox: build the rack, start the agents, record, end.

Everything here happens in a process that the kernel will remove with all it has made. Progress and the finished
`RunRecord` go to the outside through a connection.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from multiprocessing.connection import Connection

import numpy as np

from testbed.agent.agent import LOOKS_PER_RTT, USUAL_LATENESS, Timing
from testbed.agent.barriers import Barriers
from testbed.agent.columns import ENDLESS, Flows
from testbed.agent.launch import Common, Crew, Share, shares_of_hosts
from testbed.agent.meter import Meter
from testbed.agent.sockets import Route
from testbed.capture.files import Capture
from testbed.capture.recording import Recording
from testbed.capture.tap import Setting
from testbed.clock import SHORTEST_SLEEP, Clock
from testbed.controller import Paths, Signal, build
from testbed.dataplane.programs import FLOW_TABLE, NO_PFC, NicPrograms, PortPrograms
from testbed.dataplane.shaper import burst
from testbed.dataplane.wire import Framing
from testbed.engines.kernel.calibration.calibration import Measured, calibrate
from testbed.engines.kernel.faults.fault import NO_FAULT, Fault
from testbed.engines.kernel.gather import drain, gather, input_queue_drops
from testbed.engines.kernel.pfc.lossless import Lossless
from testbed.engines.kernel.queue_watch import QueueWatch
from testbed.engines.kernel.rack.backlog import QueueReader
from testbed.engines.kernel.rack.gate import in_flight
from testbed.engines.kernel.rack.net import Rack, Wire
from testbed.errors import PluginFailed
from testbed.experiment.bottleneck import busiest_port
from testbed.experiment.events import Timetable
from testbed.experiment.load import Resolved
from testbed.experiment.topology import headroom
from testbed.experiment.topology.kinds import shape_of
from testbed.experiment.topology.paths import FlowPaths, most_hops, netem_delay
from testbed.experiment.topology.routes import Routes
from testbed.experiment.traffic.flow import NO_GROUP
from testbed.fidelity.invariants import broken
from testbed.fidelity.processors import Processors
from testbed.live.collect import Collector
from testbed.live.observability import RackFabric
from testbed.live.recorder import PortReader, Recorder, largest
from testbed.live.snapshots import Live, scene
from testbed.results import decisions
from testbed.results.decisions import Served
from testbed.results.record import RTT_BINS_PER_OCTAVE, RunRecord
from testbed.results.trace import Trace
from testbed.tuner import Need
from testbed.tuning.loop import in_rack

WORTH_A_LIMIT = 4  # packets; below that more system calls cost a start burst more than the shaper's timers
PATIENCE = 10.0  # wall seconds that agents may take to end after the run is over
GATE_LATENESS = 30e-3  # wall seconds for which others may keep the kernel's lock of all network devices


class Emulation:
    """The parts of one run and what they need to know of each other."""

    def __init__(
        self, resolved: Resolved, use_netem: bool, fault: Fault = NO_FAULT, captures: Sequence[Capture] = ()
    ) -> None:
        self.resolved = resolved
        self.fault = fault
        self.captures = captures
        self.experiment = experiment = resolved.experiment
        self.clock = Clock(experiment.time.factor)
        self.signals: Signal = resolved.controller.form.signals
        self.plan = experiment.plan
        self.shape = shape_of(experiment.rack, experiment.hosts)
        self.routes = Routes(self.shape)
        hops = most_hops(self.routes, self.plan.src, self.plan.dst) if Signal.INT in self.signals else 0
        self.framing = Framing(round(experiment.traffic.payload), hops)
        self.paths = FlowPaths.of(self.routes, self.plan.src, self.plan.dst, self.framing)
        self.use_netem = use_netem
        self.lossless = self._lossless()
        self.flows = Flows(len(self.plan))
        self.fabric = RackFabric(self)
        self.meters: list[Meter] = []
        self.crew = Crew()
        self.input_queue_drops = input_queue_drops()

    # -- building ---------------------------------------------------------------------------------------------------

    def build(self) -> None:
        """Rack, programs and agents, ready to begin."""
        experiment = self.experiment
        agents = len(os.sched_getaffinity(0))
        self.shares = shares_of_hosts(self.plan.src_number, agents)
        self.held = [self._held(first, end) for first, end in self.shares]
        self.rack = Rack(self.shape.converted(self.clock.wall_rate, self.clock.wall_seconds), self._wire())
        form, config = self.resolved.controller.form, self.resolved.controller_config
        self.nic = NicPrograms(
            largest_ifindex=self.rack.largest_ifindex,
            flows=len(self.plan),
            rings=sum(map(len, self.held)),
            cnp_interval_ns=self.clock.wall_ns(form.cnp_interval(config)),
            wake_agents=self.use_netem,
            at_far_end=not self.use_netem,
            ring_size=self.fault.ring_size,
            pfc=self.lossless.thresholds if self.lossless else NO_PFC,
        )
        monitor = FLOW_TABLE if Need.FLOWS in self.resolved.tuner.form.needs else 0
        self.programs: PortPrograms = self.rack.attach(self.nic, experiment.seed, monitor)
        self.rack.connect(self.plan.pairs)
        if self.lossless:
            self.lossless.start(self.rack, self.nic)
        self.ports = PortReader(self.programs, self.rack.ports, self.clock)
        self.tuning = in_rack(self.resolved, self.ports, self.port_names)
        self._use_spare_cores()
        self.rack.wait_until_active()
        self.calibration = self._calibrate()
        self._launch_agents()

    def _calibrate(self) -> list[Measured]:
        """Is the rack what was asked for? Afterwards no counter knows of it."""
        self.fault.on_built(self)
        if self.experiment.rack.calibrate == "off":
            return []
        measured = calibrate(self)
        drain(self)
        for port in self.rack.ports:
            self.programs.forget(port, self.experiment.seed)
        if self.lossless:
            self.lossless.forget()
        return measured

    def _lossless(self) -> Lossless | None:
        """Priority flow control, if it was asked for. Raises BadInput if its sizes do not do."""
        rack = self.experiment.rack
        pfc = rack.switch.pfc
        if pfc is None:
            return None
        late = max(float(self.paths.base_rtt.max()) / LOOKS_PER_RTT, self.clock.nominal_seconds(USUAL_LATENESS))
        room = headroom.room(pfc, self._feeds(late), rack.switch.buffer, self.framing.wire_size, late)
        return Lossless(room, rack.link.delay, self.clock.nominal_seconds(SHORTEST_SLEEP), self.use_netem)

    def _feeds(self, late: float) -> list[headroom.Feed]:
        """What each kind of cable may bring, from hosts that are ``late`` s late at most."""
        feeds = {}
        for cable in self.shape.cables:
            feed = headroom.Feed(cable.kind, cable.rate, cable.delay, late)
            if cable.low.port:
                bucket = burst(self.clock.wall_rate(cable.rate), self.framing.wire_size)
                shut = max(late, self.clock.nominal_seconds(GATE_LATENESS))
                feed = replace(feed, late=shut, begun=bucket + in_flight(self.framing.wire_size))
            feeds[cable.kind] = feed
        return list(feeds.values())

    @property
    def longest_queue(self) -> float:
        """Bytes that may wait at a port: its buffer, or what all ports have with priority flow control."""
        if self.lossless:
            ports = Counter(port.switch for port in self.shape.ports)
            return max(ports.values()) * self.lossless.room.limit
        return self.experiment.rack.switch.buffer

    def _wire(self) -> Wire:
        rack = self.experiment.rack
        return Wire(
            frame=self.framing.wire_size,
            buffer=round(rack.switch.buffer),
            netem=self._netem() if self.use_netem else None,
            forwarding=rack.switch.forwarding,
            seed=self.experiment.seed,
            pooled=round(self.longest_queue) if self.lossless else 0,
        )

    def _netem(self) -> list[float]:
        return [self.clock.wall_seconds(netem_delay(cable, self.framing)) for cable in self.shape.cables]

    @property
    def port_names(self) -> list[str]:
        """Names of the switch ports, in the order of all port columns."""
        return [port.name for port in self.shape.ports]

    @cached_property
    def bottleneck(self) -> int:
        """Position of the port that the summary looks at: the one that is asked to carry the most."""
        return busiest_port(self.routes, self.plan, self.experiment.time.duration)

    def _held(self, first: int, end: int) -> list[float]:
        """For how long the delay line of an agent holds feedback: one ring for each base RTT."""
        if self.use_netem:
            return [0.0]
        held: list[float] = np.unique(self.paths.base_rtt[first:end]).tolist()
        return held

    def _paths(self, first: int, end: int) -> Paths:
        return Paths(
            line_rate=self.paths.line_rate[first:end],
            base_rtt=self.paths.base_rtt[first:end],
            hops=self.paths.hops[first:end],
            payload=self.framing.payload,
            wire_size=self.framing.wire_size,
        )

    def _launch_agents(self) -> None:
        packets = np.ceil(self.plan.size / self.framing.payload)
        self.flows.to_send[:] = np.where(np.isfinite(packets), packets, ENDLESS)
        form, config = self.resolved.controller.form, self.resolved.controller_config
        common = Common(
            plugin=self.resolved.controller,
            dilation=self.clock.dilation,
            framing=self.framing,
            burst=self.experiment.pacing.burst,
            at_once=self._taken_whole(),
            bucket=self._bucket(),
            controller=lambda paths: build(form, config, paths),
            segment=not self.use_netem,  # nic_tx sees single packets only behind the shaper
            wake_by_ring=self.use_netem,
            own_ports=len(self.shape.switches) > 1,
        )
        cores = sorted(os.sched_getaffinity(0))
        for number, (first, end) in enumerate(self.shares):
            self.meters.append(Meter(RTT_BINS_PER_OCTAVE, self._trace()))
            share = self._share(number, cores[number], first, end)
            self.crew.launch(self.fault.on_share(share), self.fault.on_common(common))

    def _trace(self) -> Trace:
        """Its part of the rows that all agents may record."""
        return Trace(self.experiment.record.decisions // len(self.shares), self.framing.int_hops)

    def _use_spare_cores(self) -> None:
        """Cores that no agent has take the receivers' side, so that one sender can fill a fast link."""
        cores = sorted(os.sched_getaffinity(0))
        if spare := set(cores[len(self.shares) :]):
            for receiver in sorted(set(self.plan.dst)):
                self.rack[receiver].receive_on(spare)

    def _bucket(self) -> int:
        """Bytes that the bucket of a host's shaper holds."""
        return burst(self.clock.wall_rate(float(self.paths.line_rate.min())), self.framing.wire_size)

    def _taken_whole(self) -> int:
        """Packets that a host's shaper passes on in one go; 0 (no limit) where it takes them one by one anyway."""
        packets = self._bucket() // self.framing.wire_size
        return packets if packets >= WORTH_A_LIMIT else 0

    def _share(self, number: int, core: int, first: int, end: int) -> Share:
        plan = self.plan
        routes = [
            Route(flow, self.rack[src].netns, self.rack[src].IP(), self.rack[dst].IP(), size)
            for flow, src, dst, size in zip(
                range(first, end), plan.src[first:end], plan.dst[first:end], plan.size[first:end].tolist(), strict=True
            )
        ]
        before = sum(map(len, self.held[:number]))
        fds = self.nic.ring_fds[before : before + len(self.held[number])]
        place = np.searchsorted(self.held[number], self.paths.base_rtt[first:end]) if not self.use_netem else 0
        self.nic.flows_tx["ring"][first:end] = before + place
        senders, host = np.unique(plan.src_number[first:end], return_inverse=True)
        ends = [self.rack[f"h{number}"].defaultIntf() for number in senders]
        interfaces = np.array([end.index for end in ends])
        return Share(
            number=number,
            core=core,
            first=first,
            routes=routes,
            host=host.astype(np.int64),
            arrivals=self.nic.arrivals,
            interface=interfaces.astype(np.int64),
            uplink=None if self.use_netem else np.array([end.far_end.index for end in ends], np.int64),
            pauses=self.lossless.pauses(interfaces) if self.lossless else None,
            rings=list(zip(fds, self.held[number], strict=True)),
            ring_size=self.nic.ring_size,
            flows=self.flows.part(first, end),
            paths=self._paths(first, end),
            timing=Timing.of(
                np.where(plan.after == NO_GROUP, plan.start, np.inf)[first:end],
                end=self.experiment.time.duration,
                timeout=self._retransmission_timeout(),
                rtt=float(self.paths.base_rtt[first:end].min()),
                clock=self.clock,
                barriers=Barriers(plan, self.flows.finished, first, end) if (plan.after != NO_GROUP).any() else None,
            ),
            meter=self.meters[number],
        )

    def _retransmission_timeout(self) -> float:
        """As asked, or three times the longest RTT that the rack can have: base plus a full buffer."""
        asked = self.experiment.loss_recovery.timeout
        if not isinstance(asked, str):
            return asked
        return 3 * float((self.paths.base_rtt + self.paths.full_buffers(self.longest_queue)).max())

    # -- running ----------------------------------------------------------------------------------------------------

    def run(self, connection: Connection) -> RunRecord:
        """From the first packet to the end of the experiment, or of patience."""
        experiment = self.experiment
        chosen = largest(self.plan.size, experiment.record.flows)
        recording = self._recording()
        recorder = Recorder(self.flows, chosen, self.ports, self.framing.wire_size)
        watch = self._watch()
        processors = Processors()
        collector = Collector(self, recorder, processors)
        live = Live(connection, self, collector)
        recorder.sample(time.monotonic_ns(), 0.0)  # all that is counted is counted from nothing
        self.crew.wait_ready()
        self.clock = self.ports.clock = self.crew.begin()
        recording.begin(self.clock)
        timetable = Timetable(experiment.steps(), self.rack.cut, self.rack.mend, self.reroute)
        next_sample = 0.0
        while True:
            now_ns, now = time.monotonic_ns(), self.clock.now()
            if now >= next_sample:
                next_sample = max(next_sample + experiment.record.interval, now)
                recorder.sample(now_ns, now)
                watch.sample()
                processors.sample()
                self.fault.on_sample(self, now)
            if now >= experiment.time.warmup:
                collector.window_begins(now)
            timetable.step(now)
            live.show(now, now_ns)
            interrupted = self._tune() or self.crew.failure() or live.interrupted() or self._overdue(now)
            if interrupted or self.crew.finished():
                break
            until = min(next_sample, self.tuning.next_slot, timetable.next)
            time.sleep(max(0.0, min(self.clock.wall_seconds(until - self.clock.now()), live.seconds_left())))
        interrupted = interrupted or self.crew.failure()
        self.crew.end()
        recorder.sample(time.monotonic_ns(), self.clock.now())
        record = collector.record(interrupted)
        drain(self)
        collector.drained(record)
        if self.lossless:
            self.lossless.engine.end()
        counts = gather(self, watch, self.clock.now())
        record.broken = [(one.what, one.how_much) for one in broken(counts)]
        record.events = timetable.done
        record.queue_difference = counts.queue_difference
        record.calibration = [one.as_dict() for one in self.calibration]
        record.decided_by = [one.as_dict() for one in counts.deciders]
        self._keep_decisions(record)
        record.tuners = [one.log for one in self.tuning.all]
        record.captures = recording.end()
        return record

    def _keep_decisions(self, record: RunRecord) -> None:
        if self.experiment.record.decisions:
            served = [Served(one.share.first, one.share.paths, one.share.meter.trace) for one in self.crew.members]
            record.decisions_file = decisions.encode(self.experiment.controller, served)
            record.decisions_kept = decisions.kept(served)

    def _recording(self) -> Recording:
        setting = Setting(
            experiment=self.experiment.name,
            controller=self.resolved.controller.name,
            shape=self.shape,
            numbered_by_host=self.use_netem,
        )
        return Recording(self.captures, self.rack, setting)

    def _watch(self) -> QueueWatch:
        reader = QueueReader(self.rack[self.shape.ports[self.bottleneck].switch].netns)
        return QueueWatch(reader, self.ports, self.bottleneck, self.rack.ports[self.bottleneck])

    def reroute(self, cables: Sequence[str]) -> None:
        """The switches notice what has become of these cables; see `Rack.reroute`."""
        self.flows.rerouted += 1  # first: agents must not take other INT nodes for a fault
        self.rack.reroute(cables)

    def _tune(self) -> str:
        """Let the tuner decide; if it failed, why. A slot ends when its counters are read, not when this turn began."""
        try:
            self.tuning.step(self.clock.now(), time.monotonic_ns())
        except PluginFailed as error:
            return str(error)
        return ""

    def _overdue(self, now: float) -> str:
        """Agents end by themselves; one that does not is held up by its controller."""
        late = self.clock.wall_seconds(now - self.experiment.time.duration)
        if late < PATIENCE:
            return ""
        return f"controller '{self.resolved.controller.name}' did not return from a callback for {late:.0f} s"


def emulate(
    resolved: Resolved,
    use_netem: bool,
    connection: Connection,
    fault: Fault = NO_FAULT,
    captures: Sequence[Capture] = (),
) -> None:
    """What the sandbox runs. Sends ("stage", text), ("begins", Scene), ("snapshot", Snapshot), ("record", ...)."""
    emulation = Emulation(resolved, use_netem, fault, captures)
    connection.send(("stage", f"building {resolved.experiment.hosts} hosts"))
    emulation.build()
    connection.send(("begins", scene(emulation)))
    connection.send(("record", emulation.run(connection)))
