"""The agent of a world: one for all hosts, the same as in the kernel's rack but for clock and sockets."""

from __future__ import annotations

import numpy as np

from testbed.agent.agent import BATCHES_PER_RTT, CHECKS_PER_RTT, Agent, Timing
from testbed.agent.barriers import Barriers
from testbed.agent.batch_agent import BatchAgent
from testbed.agent.columns import ENDLESS, Flows
from testbed.agent.datapath import Datapath, DelayRing, Pace, PacingStats, Pauses
from testbed.agent.flow_agent import FlowAgent
from testbed.agent.meter import Meter
from testbed.base.arrays import Floats
from testbed.compiled.flows import CompiledFlows
from testbed.controller import RateController
from testbed.dataplane.wire import frame
from testbed.engines.virtual.structs import HEAD_BYTES, library
from testbed.engines.virtual.world import World
from testbed.experiment.traffic.flow import NO_GROUP
from testbed.registry import failed


class Sockets:
    """What `testbed.agent.sockets.Sockets` is to a datapath: a number per socket, and the packet that flows send."""

    def __init__(self, world: World) -> None:
        layout = world.layout
        plan, framing, shape = layout.plan, layout.framing, layout.shape
        self.packet = np.frombuffer(frame(framing, 0, framing.payload), np.uint8)
        own = len(shape.switches) > 1
        pairs = zip(plan.src, plan.dst, range(len(plan)), strict=True)
        keys = [(src, dst, flow if own else -1) for src, dst, flow in pairs]
        first = {}
        for flow, key in enumerate(keys):
            first.setdefault(key, flow)
        numbers = {key: number for number, key in enumerate(first)}
        self.fds = np.array([numbers[key] for key in keys], np.int64)
        heads = b"".join(world.wires.head(src, dst, first[key], len(self.packet)) for key in first for src, dst, _ in [key])
        self.heads = np.frombuffer(heads, np.uint8).reshape(-1, HEAD_BYTES).copy()
        self.hosts = np.array([world.wires.host[src] for src, _, _ in first], np.int64)
        endless = np.isinf(plan.size)
        size = np.where(endless, 0.0, plan.size)
        rest = (size % framing.payload).astype(np.int64)
        self.short_sizes = np.where(rest > 0, len(self.packet) - framing.payload + rest, 0).astype(np.int64)
        self.short_at = np.where(rest > 0, (size // framing.payload).astype(np.int64), -1)
        world.c.heads, world.c.socket_host = self.heads.ctypes.data, self.hosts.ctypes.data
        world.c.carried = framing.int_size


def build(world: World, flows: Flows, meter: Meter) -> tuple[Agent, RateController]:
    """The agent, ready to run. Raises PluginFailed."""
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
    timing = _timing(world, flows, in_batches=not isinstance(controller, CompiledFlows))
    pace = Pace(
        host=host.astype(np.int64),
        line_rate=paths.line_rate,
        wire_size=framing.wire_size,
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
        pauses=Pauses(world.maps.pauses, interface.astype(np.int64), np.inf) if world.buffer else None,
    )
    lags = PacingStats(meter.rtt, meter.pacing_lag, meter.feedback_lag, meter.timer_lag)
    rings = [DelayRing(world.ring, 0.0)]  # type: ignore[arg-type]
    sockets = Sockets(world)
    datapath = Datapath(flows, sockets, rings, pace, lags, library())  # type: ignore[arg-type]
    world.c.gather = timing.gather
    kind = FlowAgent if isinstance(controller, CompiledFlows) else BatchAgent
    agent = kind(resolved.controller, world.clock, controller, datapath, timing=timing, meter=meter)  # type: ignore[arg-type]
    return agent, controller


def _timing(world: World, flows: Flows, *, in_batches: bool) -> Timing:
    """Nothing costs time here, so that only what runs in Python is gathered."""
    layout, plan = world.layout, world.layout.plan
    rtt = float(layout.paths.base_rtt.min())
    waits = plan.after != NO_GROUP
    return Timing(
        start=np.where(waits, np.inf, plan.start + apart(world)),
        end=world.experiment.time.duration,
        timeout=layout.retransmission_timeout(world.longest_queue),
        longest_sleep=rtt / CHECKS_PER_RTT,
        credit=rtt / CHECKS_PER_RTT,
        gather=rtt / BATCHES_PER_RTT if in_batches else 0.0,
        quantum=0.0,
        barriers=Barriers(plan, flows.finished, 0, len(plan)) if waits.any() else None,
    )


def apart(world: World) -> Floats:
    """For how many seconds endless flows start later: up to a base RTT, or they would stay in step for good."""
    plan, rng = world.layout.plan, np.random.default_rng(world.experiment.seed)
    late = rng.uniform(0.0, world.layout.paths.base_rtt)
    return np.where(np.isinf(plan.size), late, 0.0)
