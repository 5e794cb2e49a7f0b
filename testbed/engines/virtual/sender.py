"""The agent of a world: one for all hosts, the same as in the kernel's rack but for clock and sockets."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Protocol

import numpy as np

from testbed.agent.agent import BATCHES_PER_RTT, CHECKS_PER_RTT, Timing
from testbed.agent.batch_agent import BatchAgent
from testbed.agent.columns import ENDLESS, Flows
from testbed.agent.credits import CreditState, ReceivingHosts
from testbed.agent.datapath import Datapath
from testbed.agent.flow_agent import FlowAgent
from testbed.agent.histogram import TimeHistogram
from testbed.agent.meter import Meter
from testbed.agent.pace import DelayRing, Pace, PacingStats, Pauses
from testbed.agent.paths import PathState
from testbed.agent.recovery import TransportState
from testbed.agent.sockets import short_packets
from testbed.agent.tasks import TaskGraph
from testbed.base.arrays import Ints
from testbed.compiled.askable import is_askable
from testbed.controller import Paths, RateController
from testbed.dataplane.wire import frame
from testbed.engines.virtual.structs import HEAD_BYTES
from testbed.engines.virtual.world import World
from testbed.experiment.bonds import Bonds
from testbed.experiment.sharing import configured
from testbed.experiment.traffic.plan import Plan
from testbed.registry import Blaming


class Sender(Protocol):
    """What a run needs of its agent (`testbed.agent.agent.Agent`)."""

    @property
    def next_step(self) -> float: ...

    def restart(self, now: float) -> None: ...

    def step(self, now: float) -> None: ...

    def wait(self, now: float, until: float) -> None: ...

    def close(self) -> None: ...


class Sockets:
    """What `testbed.agent.sockets.Sockets` is to a datapath: a number per socket, and the packet that flows send."""

    def __init__(self, world: World) -> None:
        layout = world.layout
        plan, framing = layout.plan, layout.framing
        self.packet = np.frombuffer(frame(framing, 0, framing.payload), np.uint8)
        self.short_at, self.short_sizes = short_packets(plan.size, framing.payload, len(self.packet))
        experiment = world.experiment
        between = plan.src_number << 32 | plan.dst_number if experiment.bonds is None else experiment.pair
        own = np.arange(len(plan)) if experiment.own_ports or between is None else between << 8 | plan.tos
        _, first, self.fds = np.unique(own, return_index=True, return_inverse=True)
        self._first = first  # the flow that each socket was opened for
        src, dst, tos = (column[first] for column in (plan.src_number, plan.dst_number, plan.tos))
        self.heads = world.wires.heads(src, dst, tos, first, len(self.packet))
        self.hosts = src - 1
        world.c.heads, world.c.socket_host = self.heads.ctypes.data, self.hosts.ctypes.data
        world.c.carried = framing.int_size
        self._world = world
        world.keep(self)

    def connect(self, plan: Plan) -> None:
        """From now on they go from and to the NICs that this says."""
        src, dst, tos = (column[self._first] for column in (plan.src_number, plan.dst_number, plan.tos))
        self.heads[:] = self._world.wires.heads(src, dst, tos, self._first, len(self.packet))
        self.hosts[:] = src - 1


def tasks_of(world: World) -> TaskGraph | None:
    """What flows wait for; the one agent serves all."""
    layout = world.layout
    parts = [(0, len(layout.plan))]
    return TaskGraph.of(layout.plan, layout.framing.payload, layout.paths.one_way, parts, wake=False)


class Nobody:
    """Without flows there is no agent, and the world goes on by itself."""

    next_step = np.inf

    def __init__(self, world: World) -> None:
        self._world = world

    def restart(self, now: float) -> None:
        """There are no flows."""

    def step(self, now: float) -> None:
        """Nothing is ever due."""

    def wait(self, now: float, until: float) -> None:  # noqa: ARG002 - part of the interface
        """Let the world go on."""
        world = self._world
        world.code.run_until_fed(world.address, int(world.tick_of(np.array(until))))

    def close(self) -> None:
        """It has counted nothing."""


class Built:
    """The agent, who decides (None without flows), and what events change there: `testbed.engines.changes.Senders`."""

    def __init__(self, agent: Sender, controller: RateController | None = None, nics: Nics | None = None) -> None:
        self.agent, self.controller, self._nics = agent, controller, nics

    def configure(self, decider: int, options: Mapping[str, Any]) -> None:
        """Without flows, nobody decides."""
        if self.controller:
            configured(self.controller, decider, options)

    def place(self, down: Collection[str]) -> None:
        """Of bonded hosts."""
        if self._nics:
            self._nics.place(down)


class Nics:
    """Which NICs of bonded hosts flows take."""

    def __init__(self, world: World, bonds: Bonds, sockets: Sockets, datapath: Datapath) -> None:
        self._senders, self._bonds, self._sockets, self._datapath = world.layout.senders, bonds, sockets, datapath

    def place(self, down: Collection[str]) -> None:
        """Those ``down`` are known not to work."""
        plan = self._bonds.placed(down)
        self._sockets.connect(plan)
        hosts = np.searchsorted(self._senders, plan.src_number)
        for flow in np.flatnonzero(hosts != self._datapath.flows.state["host"]).tolist():
            self._datapath.move(flow, int(hosts[flow]), int(self._sockets.fds[flow]))


def build(world: World, flows: Flows, meter: Meter, tasks: TaskGraph | None) -> Built:
    """The agent, ready to run; without flows, nobody. Raises PluginFailed."""
    if not len(flows):
        return Built(Nobody(world))
    layout, resolved = world.layout, world.resolved
    plan, framing, paths = layout.plan, layout.framing, layout.controller_paths()
    with Blaming(resolved.controller):
        controller = resolved.make_controller(paths)
    packets = np.ceil(plan.size / framing.payload)
    flows.to_send[:] = np.where(np.isfinite(packets), packets, ENDLESS)
    host = np.searchsorted(layout.senders, plan.src_number)
    interface = np.array([world.wires.lines["from"][2 * number] for number in layout.senders - 1])
    timing = _timing(world, in_batches=not is_askable(controller))
    pace = Pace(
        host=host.astype(np.int64),
        line_rate=paths.line_rate,
        wire_size=framing.wire_size,
        payload=framing.payload,
        burst=world.experiment.pacing.burst,
        at_once=0,
        credit=timing.credit,
        quantum=timing.quantum,
        hops=paths.hops,
        first=0,
        segment=True,
        wake_by_ring=False,
        int_on=framing.int_hops > 0,
        arrivals=world.maps.arrivals,
        interface=interface.astype(np.int64),
        pair=world.experiment.pair,
        pauses=_pauses(world, host, interface.astype(np.int64)),
    )
    never = TimeHistogram(1)  # is an agent late in virtual time
    lags = PacingStats(meter.rtt, never, never, never, meter.messages)
    many_paths = None
    if world.experiment.routing.many_paths:
        many_paths = PathState(timing.timeout, paths.base_rtt, resolved.make_choosers(paths), resolved.chooser)
    sockets, experiment = Sockets(world), world.experiment
    datapath = Datapath(
        flows, sockets, [DelayRing(world.ring, 0.0)], pace, lags,
        code=world.code, tasks=tasks, many_paths=many_paths,
        transport=TransportState.of(experiment.transport, timing.timeout, paths, experiment.message_packets),
        credits=_credits(world, paths),
    )  # fmt: skip
    world.c.gather = timing.gather
    if tasks:
        world.c.tasks = tasks.pointer
        tasks.begin(world.code)
    plugin, clock, bonds = resolved.controller, world.clock, world.experiment.bonds
    nics = Nics(world, bonds, sockets, datapath) if bonds else None
    if is_askable(controller):
        return Built(FlowAgent(plugin, clock, controller, datapath, timing=timing, meter=meter), controller, nics)
    return Built(BatchAgent(plugin, clock, controller, datapath, timing=timing, meter=meter), controller, nics)


def _credits(world: World, paths: Paths) -> CreditState | None:
    """What receivers grant; None where they do not."""
    resolved, layout, plan = world.resolved, world.layout, world.layout.plan
    receivers = resolved.make_receivers(paths)
    if receivers is None or resolved.receiver is None:
        return None
    tos, carried = world.experiment.rack.nic.ack_dscp << 2, layout.framing.ack_size - HEAD_BYTES
    flows = np.arange(len(plan))
    heads = world.wires.heads(plan.dst_number, plan.src_number, flows * 0 + tos, flows, carried)
    world.grant_from(plan.dst_number - 1, heads.view(np.uint8))
    hosts = ReceivingHosts.of(layout, np.arange(len(plan)), world.wires.host_interfaces())
    return CreditState(receivers, resolved.receiver, hosts)


def _pauses(world: World, host: Ints, interface: Ints) -> Pauses | None:
    """Of hosts, or of each of their priorities; None where nothing pauses."""
    if world.buffer:
        return Pauses(world.maps.pauses, interface, np.inf)
    if not world.classes or not world.pausing:
        return None
    priority = np.array(world.classes.group_of)[world.layout.plan.dscp]
    width = world.wires.interfaces
    return Pauses.of_priorities(world.maps.pauses, interface, host, priority, interfaces=width, relook=np.inf)


def _timing(world: World, *, in_batches: bool) -> Timing:
    """Nothing costs time here, so that only what runs in Python is gathered."""
    layout, plan = world.layout, world.layout.plan
    rtt = float(layout.paths.base_rtt.min(initial=layout.longest_rtt))
    experiment = world.experiment
    costs = np.array([one.decision_cost for one in (experiment.controller, *experiment.controllers)])
    return Timing(
        start=np.where(plan.waits, np.inf, layout.start),
        end=experiment.time.end,
        timeout=layout.retransmission_timeout(world.longest_queue),
        longest_sleep=rtt / CHECKS_PER_RTT,
        credit=rtt / CHECKS_PER_RTT,
        gather=rtt / BATCHES_PER_RTT if in_batches else 0.0,
        quantum=0.0,
        decision_cost=costs[experiment.decider] if costs.any() else None,
    )
