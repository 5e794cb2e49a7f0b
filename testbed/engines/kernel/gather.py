"""Collects the counters of all parties when a run has ended and its queues have drained."""

from __future__ import annotations

import time

from testbed.agent.identity import Identity
from testbed.base.arrays import Ints
from testbed.dataplane.ring import Ring
from testbed.engines.kernel.agents import Agents
from testbed.engines.kernel.assembly import Assembly
from testbed.engines.kernel.queue_watch import QueueWatch
from testbed.fidelity.counters import AppCounts, Counts, PauseCounts
from testbed.fidelity.gather import Programs, unread
from testbed.results.figures.beginning import timed_from_start
from testbed.results.record import RunRecord

POLL_SECONDS = 0.005
QUIET_POLLS = 3  # an ACK may wait in its host for a core that others keep busy
SPARE_SECONDS = 1.0


def drain(rack: Assembly, *, stuck: bool = False) -> float:
    """Wait until no packet is in flight. Returns the wall seconds it took.

    Waits no longer than a full buffer takes to drain; packets that are missing then break an invariant. Pauses that are
    ``stuck``, for they wait for each other, are ended.
    """
    began = time.monotonic()
    if stuck and rack.lossless:
        rack.lossless.generator.let_go()
    slowest = min(port.link.rate for port in rack.layout.shape.ports)
    base_rtt = rack.layout.longest_rtt
    longest = rack.clock.wall_seconds(2 * rack.longest_queue * 8 / slowest + 4 * base_rtt)
    index, peers = [port.ifindex for port in rack.net.ports], [port.peer for port in rack.net.ports]
    before, quiet = -1, 0
    while quiet < QUIET_POLLS and time.monotonic() - began < longest + SPARE_SECONDS:
        sent, arrived = rack.programs.counters["bytes"][index], rack.nic.arrivals["bytes"][peers]
        still = (sent == arrived).all() and int(arrived.sum()) == before and _settled(rack)
        quiet, before = quiet + 1 if still else 0, int(arrived.sum())
        time.sleep(POLL_SECONDS + (rack.clock.wall_seconds(base_rtt) if rack.use_netem else 0))
    return time.monotonic() - began


def gather(rack: Assembly, agents: Agents, watch: QueueWatch, record: RunRecord, duration: float) -> Counts:
    """All counters, after `drain`."""
    programs, rings = programs_of(rack), [Ring(fd, rack.nic.ring_size) for fd in rack.nic.ring_fds]
    return Counts(
        flows=programs.flows(rack.flows, unread([ring.waiting() for ring in rings], len(rack.flows))),
        ports=programs.ports(_entered(rack) if rack.experiment.bonds else None),
        duration=duration,
        loaded_plugins=[one for member in agents.pool.members for one in member.identities],
        wanted=[Identity.wanted(one.plugin) for one in rack.resolved.deciders] if len(rack.layout.plan) else [],
        int_faults=sum(int(meter.counters[4]) for meter in agents.meters),
        queue_difference=watch.difference(0.0 if timed_from_start(record) else record.warmup),
        queue_tolerance=watch.tolerance,
        pauses=pauses_of(rack),
        srcs=programs.srcs(rack.flows),
        credits=programs.credits(),
        recovery=programs.recovery(rack.flows),
        apps=_apps(rack),
    )


def _apps(rack: Assembly) -> AppCounts | None:
    if not rack.experiment.apps:
        return None
    return AppCounts(_entered(rack))


def _entered(rack: Assembly) -> Ints | None:
    """Packets that came into switches, by port; netem hides them."""
    return None if rack.use_netem else rack.entered() - rack.entered_before


def programs_of(rack: Assembly) -> Programs:
    """The counters of the rack's programs."""
    nic, maps, ports = rack.nic, rack.programs, rack.ports
    return Programs(rack.layout, nic.flows_tx, nic.flows_rx, nic.arrivals, maps, ports.index, ports.peer, nic.receivers)


def pauses_of(rack: Assembly) -> PauseCounts | None:
    """Of priority flow control, if there is any; where memory is shared, what waits in lossy groups as well."""
    programs, nic, now = programs_of(rack), rack.nic, time.monotonic_ns()
    if nic.memory:
        return programs.priorities(nic.memory, nic.groups, nic.largest_ifindex + 1, now)
    return programs.pauses(now) if rack.lossless else None


def _settled(rack: Assembly) -> bool:
    """Whether all pauses have ended at both ends of their links."""
    pauses = pauses_of(rack)
    return not pauses or bool(pauses.resumed.all() and (pauses.sent == pauses.received).all())
