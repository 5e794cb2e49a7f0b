"""What each agent of a rack is given: its hosts, flows, ring buffers and times."""

from __future__ import annotations

import logging
import os
from collections.abc import Collection
from functools import partial

import numpy as np

from testbed.agent.agent import Timing
from testbed.agent.columns import ENDLESS
from testbed.agent.meter import Meter
from testbed.agent.pool import AgentConfig, AgentPool, AgentSpec, ManyPaths, split_by_host
from testbed.agent.sockets import Route
from testbed.agent.structs import library
from testbed.agent.tasks import TaskGraph
from testbed.base.arrays import Ints
from testbed.engines.kernel.assembly import Assembly
from testbed.engines.kernel.faults.fault import Fault
from testbed.engines.kernel.granting import Granting
from testbed.experiment.traffic.plan import Plan
from testbed.results.decisions import Served
from testbed.results.record import RTT_BINS_PER_OCTAVE
from testbed.results.trace import DecisionTrace

log = logging.getLogger(__package__)
LEAST_LIMIT = 4  # packets; below that more system calls cost a start burst more than the shaper's timers


class Agents:
    """One agent per core, each serving a part of the hosts."""

    def __init__(self, rack: Assembly, fault: Fault) -> None:
        self.rack = rack
        self.fault = fault
        self.pool = AgentPool()
        self.meters: list[Meter] = []
        self.cores = sorted(os.sched_getaffinity(0))
        self.parts = split_by_host(rack.layout.home_number, len(self.cores))
        self.delays = [rack.delays(first, end) for first, end in self.parts]
        self.src_delays = [rack.src_delays(first, end) for first, end in self.parts]
        self.granting = Granting(rack, self.parts)
        self.grant_delays = [self.granting.delays(number) for number in range(len(self.parts))]
        layout = rack.layout
        self.tasks = TaskGraph.of(layout.plan, layout.framing.payload, layout.paths.one_way, self.parts, wake=True)

    @property
    def rings(self) -> int:
        """Number of ring buffers that the agents need."""
        return sum(map(len, [*self.delays, *self.src_delays, *self.grant_delays]))

    def launch(self) -> None:
        """Fork all of them; they wait for nominal time to begin."""
        rack = self.rack
        packets = np.ceil(rack.layout.plan.size / rack.layout.framing.payload)
        rack.flows.to_send[:] = np.where(np.isfinite(packets), packets, ENDLESS)
        config = self._config()
        if self.tasks:
            self.tasks.begin(library())
        if not self.parts:  # no flows: nobody sends, or is late
            self.meters.append(Meter(RTT_BINS_PER_OCTAVE, DecisionTrace(0, 0), hosts=0))
        for number, (first, end) in enumerate(self.parts):
            hosts = len(rack.layout.senders_of(slice(first, end)))
            self.meters.append(Meter(RTT_BINS_PER_OCTAVE, self._trace(), hosts=hosts))
            spec = self._spec(number, first, end)
            self.pool.launch(self.fault.on_spec(spec), self.fault.on_config(config))
            about = {"agent": number, "pid_inside": self.pool.members[-1].pid, "core": spec.core}
            log.info("agent launched", extra={**about, "flows": end - first, "rings": len(spec.rings)})

    def served(self) -> list[Served]:
        """What each agent has recorded of its controller's decisions."""
        return [Served(one.spec.first, one.spec.paths, one.spec.meter.trace) for one in self.pool.members]

    def _config(self) -> AgentConfig:
        rack, resolved = self.rack, self.rack.resolved
        routing = rack.experiment.routing
        return AgentConfig(
            plugin=resolved.controller,
            dilation=rack.clock.dilation,
            framing=rack.layout.framing,
            burst=rack.experiment.pacing.burst,
            at_once=self._passed_at_once(),
            bucket=rack.bucket,
            controller=resolved.make_controller,
            segment=not rack.use_netem,  # nic_tx sees single packets only behind the shaper
            wake_by_ring=rack.use_netem,
            own_ports=rack.experiment.own_ports,
            many_paths=ManyPaths(resolved.make_choosers, resolved.chooser) if routing.many_paths else None,
            transport=rack.experiment.transport,
            receivers=resolved.make_receivers,
            receiver=resolved.receiver,
        )

    def _passed_at_once(self) -> int:
        """Packets that a host's shaper lets through at once; 0 (no limit) where it takes them one by one anyway."""
        packets = self.rack.bucket // self.rack.layout.framing.wire_size
        return packets if packets >= LEAST_LIMIT else 0

    def _trace(self) -> DecisionTrace:
        """An agent's part of the rows that all agents may record."""
        return DecisionTrace(self.rack.experiment.record.decisions // len(self.parts), self.rack.resolved.traced_hops)

    def _spec(self, number: int, first: int, end: int) -> AgentSpec:
        rack, plan = self.rack, self.rack.layout.plan
        hosts, nic, base_rtt = rack.net, rack.nic, rack.layout.paths.base_rtt
        routes = self._routes(plan, first, end)
        delays, src_delays = self.delays[number], self.src_delays[number]
        every = (self.delays, self.src_delays, self.grant_delays)
        before = sum(len(own) for kind in every for own in kind[:number])
        ring = np.searchsorted(delays, base_rtt[first:end]) if not rack.use_netem else 0
        nic.flows_tx["ring"][first:end] = before + ring
        if src_delays:
            src_ring = np.searchsorted(src_delays, rack.layout.paths.src_rtt[first:end])
            nic.flows_tx["notice_ring"][first:end] = before + len(delays) + src_ring
        self.granting.connect(number, before + len(delays) + len(src_delays), before)
        senders = rack.layout.senders_of(slice(first, end))
        host = np.searchsorted(senders, plan.src_number[first:end])
        ends = [hosts[f"h{sender}"].defaultIntf() for sender in senders]
        interfaces = np.array([one.index for one in ends])
        pair = rack.experiment.pair
        return AgentSpec(
            number=number,
            core=self.cores[number],
            first=first,
            routes=routes,
            host=host.astype(np.int64),
            arrivals=nic.arrivals,
            interface=interfaces.astype(np.int64),
            uplink=None if rack.use_netem else np.array([one.peer.index for one in ends], np.int64),
            pair=None if pair is None else np.unique(pair[first:end], return_inverse=True)[1],
            pauses=rack.pauses(interfaces, host, slice(first, end)),
            rings=list(zip(nic.ring_fds[before:], [*delays, *src_delays, *self.grant_delays[number]], strict=False)),
            ring_size=nic.ring_size,
            flows=rack.flows.part(first, end),
            paths=rack.layout.controller_paths(slice(first, end)),
            timing=Timing.of(
                np.where(plan.waits, np.inf, rack.layout.start)[first:end],
                end=rack.experiment.time.end,
                timeout=rack.layout.retransmission_timeout(rack.longest_queue),
                rtt=float(base_rtt[first:end].min()),
                packet=rack.layout.framing.wire_size * 8 / float(rack.layout.paths.line_rate[first:end].max()),
                clock=rack.clock,
            ),
            meter=self.meters[number],
            messages=rack.experiment.message_packets[first:end],
            tasks=self.tasks,
            granted=self.granting.granted(number),
            placed=partial(self._placed, senders, first, end) if rack.experiment.bonds else None,
        )

    def _routes(self, plan: Plan, first: int, end: int) -> list[Route]:
        hosts, own = self.rack.net, slice(first, end)
        ends = zip(plan.src[own], plan.dst[own], plan.size[own].tolist(), plan.tos[own].tolist(), strict=True)
        return [
            Route(flow, hosts[src].netns, hosts[src].IP(), hosts[dst].IP(), size, tos)
            for flow, (src, dst, size, tos) in enumerate(ends, start=first)
        ]

    def _placed(self, senders: Ints, first: int, end: int, down: Collection[str]) -> tuple[list[Route], Ints]:
        """Where an agent's flows go, and by which of its hosts, while those NICs are ``down``."""
        bonds = self.rack.experiment.bonds
        assert bonds, "only flows of bonds change their NICs"
        plan = bonds.placed(down)
        return self._routes(plan, first, end), np.searchsorted(senders, plan.src_number[first:end])
