"""Collects the counters of all parties when a run has ended and its queues have drained."""

from __future__ import annotations

import time

import numpy as np

from testbed.agent.identity import Identity
from testbed.base.arrays import Ints
from testbed.dataplane import pauses
from testbed.dataplane.ring import Ring
from testbed.engines.kernel.agents import Agents
from testbed.engines.kernel.assembly import Assembly
from testbed.engines.kernel.queue_watch import QueueWatch
from testbed.fidelity.counters import Counts, FlowCounts, PauseCounts, PortCounts

POLL_SECONDS = 0.005
QUIET_POLLS = 3  # an ACK may wait in its host for a core that others keep busy
SPARE_SECONDS = 1.0


def drain(rack: Assembly) -> float:
    """Wait until no packet is in flight. Returns the wall seconds it took.

    Waits no longer than a full buffer takes to drain; packets that are missing then break an invariant.
    """
    began = time.monotonic()
    slowest = min(port.link.rate for port in rack.layout.shape.ports)
    base_rtt = float(rack.layout.paths.base_rtt.max())
    longest = rack.clock.wall_seconds(2 * rack.longest_queue * 8 / slowest + 4 * base_rtt)
    index, peers = [port.ifindex for port in rack.net.ports], [port.peer for port in rack.net.ports]
    before, quiet = -1, 0
    while quiet < QUIET_POLLS and time.monotonic() - began < longest + SPARE_SECONDS:
        sent, arrived = rack.programs.counters["bytes"][index], rack.nic.arrivals["bytes"][peers]
        still = (sent == arrived).all() and int(arrived.sum()) == before and _settled(rack)
        quiet, before = quiet + 1 if still else 0, int(arrived.sum())
        time.sleep(POLL_SECONDS + (rack.clock.wall_seconds(base_rtt) if rack.use_netem else 0))
    return time.monotonic() - began


def gather(rack: Assembly, agents: Agents, watch: QueueWatch, duration: float) -> Counts:
    """All counters, after `drain`."""
    flows, tx, rx = rack.flows, rack.nic.flows_tx, rack.nic.flows_rx
    index = [port.ifindex for port in rack.net.ports]
    ports = rack.programs.counters[index]

    def integers(column: np.ndarray) -> Ints:
        return column.astype(np.int64)

    return Counts(
        flows=FlowCounts(
            src_port=last_port(rack, rack.layout.plan.src),
            dst_port=last_port(rack, rack.layout.plan.dst),
            agent_sent=flows.sent.copy(),
            agent_acked=flows.acked.copy(),
            agent_cnps=flows.cnps.copy(),
            agent_ce=flows.ce.copy(),
            nic_sent=integers(tx["packets"]),
            nic_acks=integers(tx["acks"]),
            nic_cnps=integers(tx["cnps"]),
            nic_ce=integers(tx["ce_echoes"]),
            received=integers(rx["packets"]),
            received_ce=integers(rx["ce"]),
            cnps_made=integers(rx["cnps"]),
            ring_full=integers(tx["ring_full"]),
            unread=unread(rack),
        ),
        ports=PortCounts(
            name=rack.layout.port_names,
            enqueued=integers(ports["packets"]),
            marked=integers(ports["marked_packets"]),
            dropped=integers(ports["dropped_packets"] + ports["lost_packets"]),
            tx_bytes=ports["bytes"].astype(float),
            rate=np.array([port.link.rate for port in rack.layout.shape.ports]),
            switch=[port.switch for port in rack.layout.shape.ports],
            far=far_ports(rack),
            arrived=integers(rack.nic.arrivals["packets"][[port.peer for port in rack.net.ports]]),
        ),
        duration=duration,
        loaded_plugins=[member.identity for member in agents.pool.members if member.identity is not None],
        wanted=Identity.wanted(rack.resolved.controller),
        int_faults=sum(int(meter.counters[4]) for meter in agents.meters),
        queue_difference=watch.difference(),
        queue_tolerance=watch.tolerance,
        pauses=_pauses(rack) if rack.lossless else None,
    )


def _pauses(rack: Assembly) -> PauseCounts:
    programs, ports = rack.programs, rack.ports
    ingresses, records = programs.ingresses[ports.index], programs.pauses[ports.peer]
    return PauseCounts(
        residual=ingresses["bytes"].astype(np.int64),
        overrun=programs.counters["dropped_packets"][ports.index].astype(np.int64),
        sent=ingresses["frames"].astype(np.int64),
        received=records["frames"].astype(np.int64),
        unsignalled=ingresses["unsignalled"].astype(np.int64),
        resumed=(ingresses["paused"] == 0) & pauses.are_resumed(records, time.monotonic_ns()),
    )


def _settled(rack: Assembly) -> bool:
    """Whether all pauses have ended at both ends of their links."""
    if not rack.lossless:
        return True
    pauses = _pauses(rack)
    return bool(pauses.resumed.all() and (pauses.sent == pauses.received).all())


def last_port(rack: Assembly, hosts: list[str]) -> Ints:
    """Positions of the switch ports that lead to hosts."""
    return np.array([rack.layout.shape.position[rack.layout.shape.port_of(host).name] for host in hosts])


def far_ports(rack: Assembly) -> Ints:
    """Position of the port at the other end of each port's link; -1 where a host is."""
    return np.array([rack.layout.shape.position.get(port.peer.interface, -1) for port in rack.layout.shape.ports])


def unread(rack: Assembly) -> Ints:
    """Feedback per flow that waits in the agents' rings."""
    waiting = np.zeros(len(rack.flows), np.int64)
    for fd in rack.nic.ring_fds:
        np.add.at(waiting, Ring(fd, rack.nic.ring_size).waiting()["flow"].astype(np.int64), 1)
    return waiting
