"""Brings the counters of all parties together when a run has ended and its queues have drained."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from testbed.checks.counters import Counts, FlowCounts, PauseCounts, PortCounts
from testbed.checks.identity import Identity
from testbed.controller import Ints
from testbed.dataplane.ring import Ring
from testbed.pfc import books

if TYPE_CHECKING:
    from testbed.checks.watch import QueueWatch
    from testbed.emulate import Emulation

LOOK_SECONDS = 0.005
SPARE_SECONDS = 1.0
SOFTNET = Path("/proc/net/softnet_stat")


def drain(run: Emulation) -> float:
    """Wait until nothing is on its way any more: what agents have sent arrives. Returns the wall seconds it took.

    Waits no longer than a full buffer takes to drain; what is missing then, the invariants will name.
    """
    began = time.monotonic()
    longest = run.clock.wall_seconds(2 * run.longest_queue * 8 / run.experiment.rack.link.rate + 4 * run.path.base_rtt)
    before = -1
    while time.monotonic() - began < longest + SPARE_SECONDS:
        hosts = run.nic.hosts
        arrived = int(hosts["received"].sum())
        if (hosts["enqueued"] == hosts["received"]).all() and arrived == before and _settled(run):
            break
        before = arrived
        time.sleep(LOOK_SECONDS + (run.clock.wall_seconds(run.path.base_rtt) if run.use_netem else 0))
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
            src=run.plan.src_number,
            dst=run.plan.dst_number,
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
            rate=np.full(len(index), run.experiment.rack.link.rate),
        ),
        duration=duration,
        deciders=[member.identity for member in run.crew.members if member.identity is not None],
        wanted=Identity.wanted(run.resolved.controller),
        shaper_drops=run.rack.shaper_drops(),
        backlog_drops=input_queue_drops() - run.input_queue_drops,
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
        over=(ingresses["paused"] == 0) & books.are_over(notes, time.monotonic_ns()),
    )


def _settled(run: Emulation) -> bool:
    """Whether all pauses have ended, and those who were paused know."""
    if not run.lossless:
        return True
    pauses = _pauses(run)
    return bool(pauses.over.all() and (pauses.sent == pauses.heard).all())


def unread(run: Emulation) -> Ints:
    """Answers per flow that wait in the agents' rings."""
    waiting = np.zeros(len(run.flows), np.int64)
    for fd in run.nic.ring_fds:
        np.add.at(waiting, Ring(fd, run.nic.ring_size).waiting()["flow"].astype(np.int64), 1)
    return waiting
