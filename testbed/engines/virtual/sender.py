"""The agent of a world: one for all hosts, the same as in the kernel's rack but for clock and sockets."""

from __future__ import annotations

from typing import Protocol

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
from testbed.registry import failed


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
        own_ports = world.experiment.own_ports
        flows, ends = np.arange(len(plan)), plan.src_number << 32 | plan.dst_number << 8 | plan.tos
        _, first, self.fds = np.unique(flows if own_ports else ends, return_index=True, return_inverse=True)
        src, dst, tos = (column[first] for column in (plan.src_number, plan.dst_number, plan.tos))
        self.heads = world.wires.heads(src, dst, tos, first, len(self.packet))
        self.hosts = src - 1
        world.c.heads, world.c.socket_host = self.heads.ctypes.data, self.hosts.ctypes.data
        world.c.carried = framing.int_size
        world.keep(self)


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


def build(world: World, flows: Flows, meter: Meter, tasks: TaskGraph | None) -> tuple[Sender, RateController | None]:
    """The agent, ready to run; without flows, nobody. Raises PluginFailed."""
    if not len(flows):
        return Nobody(world), None
    layout, resolved = world.layout, world.resolved
    plan, framing, paths = layout.plan, layout.framing, layout.controller_paths()
    try:
        controller = resolved.make_controller(paths)
    except Exception as error:
        raise failed(resolved.controller, error) from error
    packets = np.ceil(plan.size / framing.payload)
    flows.to_send[:] = np.where(np.isfinite(packets), packets, ENDLESS)
    _, host = np.unique(plan.src_number, return_inverse=True)
    interface = np.array([world.wires.lines["from"][2 * number] for number in np.unique(plan.src_number) - 1])
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
    datapath = Datapath(
        flows, Sockets(world), [DelayRing(world.ring, 0.0)], pace, lags,
        code=world.code, tasks=tasks, many_paths=many_paths,
        transport=TransportState.of(world.experiment.transport, timing.timeout, paths), credits=_credits(world, paths),
    )  # fmt: skip
    world.c.gather = timing.gather
    if tasks:
        world.c.tasks = tasks.pointer
        tasks.begin(world.code)
    plugin, clock = resolved.controller, world.clock
    if is_askable(controller):
        return FlowAgent(plugin, clock, controller, datapath, timing=timing, meter=meter), controller
    return BatchAgent(plugin, clock, controller, datapath, timing=timing, meter=meter), controller


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
