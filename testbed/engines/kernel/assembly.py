"""The rack of one run with its programs, before any agent starts: what is built, calibrated and counted."""

from __future__ import annotations

import logging
import os
import time
from collections import Counter
from itertools import permutations

import numpy as np

from testbed.agent.columns import Flows
from testbed.agent.pace import Pauses
from testbed.base.arrays import Ints
from testbed.clock import Clock
from testbed.dataplane import class_rows, wire
from testbed.dataplane.intake_rows import intake_row
from testbed.dataplane.port_reader import PortReader
from testbed.dataplane.programs import FLOW_TABLE, NO_PFC, Answers, NicPrograms, Notices, PortPrograms
from testbed.dataplane.shaper import burst
from testbed.dataplane.wire import LOSSLESS
from testbed.engines.apps.delay import Delaying
from testbed.engines.kernel.pfc.lossless import Lossless, headroom_needed, lossless_of
from testbed.engines.kernel.rack.net import ETHERNET_FRAME, LinkLayer, Rack
from testbed.engines.kernel.rack.wall import wall_links
from testbed.experiment.apps import instances
from testbed.experiment.resolved import Resolved
from testbed.experiment.topology.dscp import DSCPS, USUAL
from testbed.experiment.topology.paths import FlowPaths
from testbed.tuner import Need
from testbed.tuning.loop import Tunings, in_rack
from testbed.units import show_time

log = logging.getLogger(__package__)


class Assembly:
    """The parts of a rack and how they connect. Links delay with netem, or agents do."""

    net: Rack
    nic: NicPrograms
    programs: PortPrograms
    ports: PortReader
    tuning: Tunings

    def __init__(self, resolved: Resolved, use_netem: bool) -> None:
        self.resolved = resolved
        self.experiment = resolved.experiment
        self.layout = resolved.layout
        self.use_netem = use_netem
        self.clock = Clock(self.experiment.time.factor)
        self.flows = Flows(len(self.layout.plan))
        self.lossless: Lossless | None = lossless_of(self.layout, self.clock, use_netem)

    def build(self, rings: int, ring_size: int) -> None:
        """Rack and programs, with ``rings`` ring buffers for feedback."""
        experiment = self.experiment
        began = time.monotonic()
        shape, framing = self.layout.shape, self.layout.framing
        links = wall_links(shape, self.clock, framing if self.use_netem else None)
        self.net = Rack(shape, links, self._link_layer())
        self.nic = NicPrograms(
            largest_ifindex=self.net.largest_ifindex,
            flows=len(self.layout.plan),
            rings=rings,
            cnp_interval_ns=self.clock.wall_ns(self.resolved.cnp_interval),
            wake_agents=self.use_netem,
            at_far_end=not self.use_netem,
            ring_size=ring_size,
            pfc=self.lossless.thresholds if self.lossless else NO_PFC,
            routing=wire.routing(experiment.routing.name),
            seed=experiment.seed,
            flowlet_gap_ns=self.clock.wall_ns(self.layout.flowlet_gap),
            src=Notices(self.resolved.src_threshold, framing.wire_size),
            classes=experiment.rack.switch.tables,
            memory=experiment.rack.switch.memory,
            answers=Answers(experiment.rack.nic.ack_dscp, experiment.rack.nic.cnp_dscp),
            recovery=wire.recovery(experiment.transport),
            credits=self.resolved.receiver is not None,
            slow=bool(self.slow_hosts),
        )
        monitor = FLOW_TABLE if Need.FLOWS in self.resolved.tuner.form.needs else 0
        self.programs = self.net.attach(self.nic, experiment.seed, monitor)
        hosts = {one.host for one in instances(experiment.apps)}
        for host in hosts:
            self.net[host].bring_up_loopback()
        self.net.connect(self.layout.plan.pairs | set(permutations(hosts, 2)))
        if self.lossless:
            self.lossless.start(self.net, self.nic)
        self.ports = self.queues = PortReader(self.programs, self.net.ports, self.clock)
        if self.net.queues:
            self.ports.thresholds[:] = np.nan  # they are the queues'
            self.queues = PortReader(self.programs, self.net.queues, self.clock)
            self._tell_pauses()
        self.entered_before = self.entered()
        built = time.monotonic()
        self.tuning = in_rack(self.resolved, self.queues, self.layout.queue_names)
        self._log(built - began)

    def _tell_pauses(self) -> None:
        classes, interfaces = self.experiment.rack.switch.tables, self.net.largest_ifindex + 1
        if classes and self.lossless:
            class_rows.tell_pauses(self.ports, self.queues, classes, self.lossless.groups, interfaces)

    def _log(self, seconds: float) -> None:
        shape, tuner = self.layout.shape, self.resolved.tuner
        size = {"hosts": len(shape.hosts), "switches": len(shape.switches), "links": len(shape.links)}
        log.info("rack built", extra={**size, "seconds": seconds})
        log.info("programs attached", extra={"ports": len(self.net.ports), "rings": len(self.nic.ring_fds)})
        if self.lossless:
            log.info("priority flow control", extra={"headroom": self.lossless.headroom.size})
        slot = show_time(self.tuning.next_slot) if np.isfinite(self.tuning.next_slot) else "none"
        log.info("tuner built", extra={"tuner": tuner.name, "instances": len(self.tuning.all), "slot": slot})

    def delay_apps(self) -> Delaying | None:
        """From now on the packets of apps meet the delay of their path; None if links do that, or there are no apps."""
        hosts = list(dict.fromkeys(one.host for one in instances(self.experiment.apps)))
        if self.use_netem or not hosts:
            return None
        taps = [self.net[host].delayed() for host in hosts]
        src, dst = hosts * len(hosts), [host for host in hosts for _ in hosts]
        paths = FlowPaths.of(self.layout.routes, src, dst, self.layout.framing)
        ns = np.array([self.clock.wall_ns(one) for one in paths.one_way.tolist()]).reshape(len(hosts), len(hosts))
        delaying = Delaying(taps, ns)
        for host, tap in zip(hosts, taps, strict=True):
            self.nic.arrivals["detour"][self.net[host].defaultIntf().index] = tap.index
        return delaying

    def receive_on_spare_cores(self, agents: int) -> None:
        """Cores without an agent process what receivers get, so that one sender can fill a fast link."""
        cores = sorted(os.sched_getaffinity(0))
        if spare := set(cores[agents:]):
            for receiver in sorted(set(self.layout.plan.dst)):
                self.net[receiver].receive_on(spare)

    def reset(self) -> None:
        """Set all counters to 0."""
        for port in (*self.net.ports, *self.net.queues):
            self.programs.reset(port, self.experiment.seed)
        self.entered_before = self.entered()
        if self.lossless:
            self.lossless.reset()
        self.nic.forget_peaks()

    def entered(self) -> Ints:
        """All packets that have come into a switch so far, shape (p,)."""
        index = [port.ifindex for port in self.net.ports]
        return np.asarray(self.nic.arrivals["packets"][index], np.int64)

    def begin(self, clock: Clock) -> None:
        """Nominal time has begun."""
        self.clock = clock
        log.info("nominal time begins", extra={"dilation": clock.dilation, "epoch_ns": clock.epoch_ns})

    @property
    def slow_hosts(self) -> list[str]:
        """Whose NICs pause their ports."""
        receive = self.experiment.rack.nic.receive
        return [host for host in self.layout.shape.hosts if receive and receive.of(host)]

    def slow_down(self) -> None:
        """From now on slow hosts are slow; not while links are measured."""
        if (receive := self.experiment.rack.nic.receive) and self.lossless:
            row = intake_row(receive, self.clock.wall_rate(receive.rate), self.lossless.intake_headroom)
            for host in self.slow_hosts:
                self.nic.slow_down(self.net[host].defaultIntf().index, row)

    @property
    def longest_queue(self) -> float:
        """Bytes that may wait at a port: its buffer, or what all ports have with priority flow control."""
        ports = max(Counter(port.switch for port in self.layout.shape.ports).values())
        if self.lossless and not self.lossless.groups:
            return ports * self.lossless.thresholds.limit
        buffer, memory = self.layout.shape.largest_buffer, self.experiment.rack.switch.memory
        return memory.longest(buffer, ports, headroom_needed(self.layout, self.clock)) if memory else buffer

    def pauses(self, interface: Ints, host: Ints, flows: slice) -> Pauses | None:
        """Where an agent of these flows finds out what of its hosts is paused; see `Lossless.pauses`."""
        classes = self.experiment.rack.switch.tables
        priority = np.array(classes.group_of if classes else [LOSSLESS] * DSCPS)[self.layout.plan.dscp[flows]]
        return self.lossless.pauses(interface, host, priority) if self.lossless else None

    @property
    def probes_pause(self) -> bool:
        """Whether packets like those of calibration are lossless."""
        classes = self.experiment.rack.switch.tables
        return self.lossless is not None and (not classes or classes.group_of[USUAL] in self.lossless.groups)

    @property
    def bucket(self) -> int:
        """Size in bytes of the bucket of a host's shaper."""
        slowest = float(self.layout.paths.line_rate.min(initial=self.experiment.rack.link.rate))
        return burst(self.clock.wall_rate(slowest), self.layout.framing.wire_size)

    def delays(self, first: int, end: int) -> list[float]:
        """The delays (nominal s) of an agent's delay lines for these flows: one for each base RTT."""
        if self.use_netem:
            return [0.0]
        delays: list[float] = np.unique(self.layout.paths.base_rtt[first:end]).tolist()
        return delays

    def src_delays(self, first: int, end: int) -> list[float]:
        """The same for the delay lines of their SRCs, which come from the last switch; none without Bolt."""
        if not self.resolved.src_threshold:
            return []
        delays: list[float] = np.unique(self.layout.paths.src_rtt[first:end]).tolist()
        return delays

    def _link_layer(self) -> LinkLayer:
        rack = self.experiment.rack
        return LinkLayer(
            frame=max(self.layout.framing.wire_size, ETHERNET_FRAME if self.experiment.apps else 0),
            buffer=round(self.layout.shape.largest_buffer if self.lossless else self.longest_queue),
            forwarding=rack.switch.forwarding,
            seed=self.experiment.seed,
            answers_first=self.resolved.src_threshold > 0,
            classes=rack.switch.tables,
            pooled=round(self.longest_queue) if self.lossless else 0,
            groups=self.lossless.groups if self.lossless else (),
            headroom=headroom_needed(self.layout, self.clock),
            slow=self.slow_hosts,
            in_order=self.experiment.transport.numbered,
        )
