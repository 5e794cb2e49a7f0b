"""Brings the counters of all parties together when a run has ended and its queues have drained."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from testbed.agent.identity import Identity
from testbed.base.arrays import Ints
from testbed.dataplane import pauses
from testbed.dataplane.ring import Ring
from testbed.fidelity.counters import Counts, FlowCounts, PauseCounts, PortCounts

if TYPE_CHECKING:
    from testbed.engines.kernel.emulation import Emulation
    from testbed.engines.kernel.queue_watch import QueueWatch

LOOK_SECONDS = 0.005
QUIET_LOOKS = 3  # an answer may wait in its host for a core that others keep busy
SPARE_SECONDS = 1.0
SOFTNET = Path("/proc/net/softnet_stat")


def drain(run: Emulation) -> float:
    """Wait until nothing is on its way any more: what agents have sent arrives. Returns the wall seconds it took.

    Waits no longer than a full buffer takes to drain; what is missing then, the invariants will name.
    """
    began = time.monotonic()
    slowest, base_rtt = min(port.cable.rate for port in run.shape.ports), float(run.paths.base_rtt.max())
    longest = run.clock.wall_seconds(2 * run.longest_queue * 8 / slowest + 4 * base_rtt)
    index, peers = [port.ifindex for port in run.rack.ports], [port.peer for port in run.rack.ports]
    before, quiet = -1, 0
    while quiet < QUIET_LOOKS and time.monotonic() - began < longest + SPARE_SECONDS:
        sent, arrived = run.programs.counters["bytes"][index], run.nic.arrivals["bytes"][peers]
        still = (sent == arrived).all() and int(arrived.sum()) == before and _settled(run)
        quiet, before = quiet + 1 if still else 0, int(arrived.sum())
        time.sleep(LOOK_SECONDS + (run.clock.wall_seconds(base_rtt) if run.use_netem else 0))
    return time.monotonic() - began


def input_queue_drops() -> int:
    """Packets that the per-core input queues of this machine have dropped since it started."""
    return sum(int(line.split()[1], 16) for line in SOFTNET.read_text().splitlines())


def gather(run: Emulation, watch: QueueWatch, duration: float) -> Counts:
    """All counters, after `drain`."""
    flows, tx, rx = run.flows, run.nic.flows_tx, run.nic.flows_rx
    index = [port.ifindex for port in run.rack.ports]
    ports = run.programs.counters[index]

    def whole(column: np.ndarray) -> Ints:
        return column.astype(np.int64)

    return Counts(
        flows=FlowCounts(
            src_port=last_port(run, run.plan.src),
            dst_port=last_port(run, run.plan.dst),
            agent_sent=flows.sent.copy(),
            agent_acked=flows.acked.copy(),
            agent_cnps=flows.cnps.copy(),
            agent_ce=flows.ce.copy(),
            nic_sent=whole(tx["packets"]),
            nic_acks=whole(tx["acks"]),
            nic_cnps=whole(tx["cnps"]),
            nic_ce=whole(tx["ce_echoes"]),
            received=whole(rx["packets"]),
            received_ce=whole(rx["ce"]),
            cnps_made=whole(rx["cnps"]),
            ring_full=whole(tx["ring_full"]),
            unread=unread(run),
        ),
        ports=PortCounts(
            name=run.port_names,
            enqueued=whole(ports["packets"]),
            marked=whole(ports["marked_packets"]),
            dropped=whole(ports["dropped_packets"] + ports["lost_packets"]),
            tx_bytes=ports["bytes"].astype(float),
            rate=np.array([port.cable.rate for port in run.shape.ports]),
            switch=[port.switch for port in run.shape.ports],
            far=far_ports(run),
            arrived=whole(run.nic.arrivals["packets"][[port.peer for port in run.rack.ports]]),
        ),
        duration=duration,
        deciders=[member.identity for member in run.crew.members if member.identity is not None],
        wanted=Identity.wanted(run.resolved.controller),
        int_faults=sum(int(meter.counters[4]) for meter in run.meters),
        queue_difference=watch.difference(),
        queue_tolerance=watch.tolerance,
        pauses=_pauses(run) if run.lossless else None,
    )


def _pauses(run: Emulation) -> PauseCounts:
    programs, ports = run.programs, run.ports
    ingresses, notes = programs.ingresses[ports.index], programs.pauses[ports.far]
    return PauseCounts(
        left=ingresses["bytes"].astype(np.int64),
        overrun=programs.counters["dropped_packets"][ports.index].astype(np.int64),
        sent=ingresses["frames"].astype(np.int64),
        heard=notes["frames"].astype(np.int64),
        untold=ingresses["untold"].astype(np.int64),
        over=(ingresses["paused"] == 0) & pauses.are_over(notes, time.monotonic_ns()),
    )


def _settled(run: Emulation) -> bool:
    """Whether all pauses have ended, and those who were paused know."""
    if not run.lossless:
        return True
    pauses = _pauses(run)
    return bool(pauses.over.all() and (pauses.sent == pauses.heard).all())


def last_port(run: Emulation, hosts: list[str]) -> Ints:
    """Positions of the switch ports that lead to hosts."""
    return np.array([run.shape.position[run.shape.port_of(host).name] for host in hosts])


def far_ports(run: Emulation) -> Ints:
    """Position of the port at the other end of each port's cable; -1 where a host is."""
    return np.array([run.shape.position.get(port.far.interface, -1) for port in run.shape.ports])


def unread(run: Emulation) -> Ints:
    """Answers per flow that wait in the agents' rings."""
    waiting = np.zeros(len(run.flows), np.int64)
    for fd in run.nic.ring_fds:
        np.add.at(waiting, Ring(fd, run.nic.ring_size).waiting()["flow"].astype(np.int64), 1)
    return waiting
