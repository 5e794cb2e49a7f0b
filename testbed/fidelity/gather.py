"""What four parties have counted, put beside each other for the invariants."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from testbed.agent.columns import Flows
from testbed.base.arrays import Ints
from testbed.dataplane import pauses, wire
from testbed.dataplane.class_rows import group_rows
from testbed.dataplane.port_maps import PortMaps
from testbed.experiment.layout import Layout
from testbed.experiment.topology.ecn import CE
from testbed.experiment.topology.pool import Memory
from testbed.fidelity.counters import CreditCounts, FlowCounts, PauseCounts, PortCounts, RecoveryCounts, SrcCounts


@dataclass(frozen=True)
class Programs:
    """The counters of a rack's programs: of flows, and by ifindex."""

    layout: Layout
    flows_tx: NDArray[np.void]
    flows_rx: NDArray[np.void]
    arrivals: NDArray[np.void]
    maps: PortMaps
    index: Ints  # of the switch ports, in their order
    peer: Ints  # of the other ends of their links
    receivers: Callable[[], NDArray[np.void]]  # of dtype `testbed.dataplane.wire.RECEIVER`

    def flows(self, flows: Flows, unread: Ints) -> FlowCounts:
        """``unread``: feedback per flow that waits in rings."""
        tx, rx = self.flows_tx, self.flows_rx
        received = _integers(rx["packets"])
        answered = received
        if self.layout.experiment.transport.numbered:
            receivers = self.receivers()
            answered = _integers(receivers["acks"] + receivers["naks"]) + _integers(receivers["trims"])
        return FlowCounts(
            src_port=self._last_port(self.layout.experiment.between_hosts.src),
            dst_port=self._last_port(self.layout.experiment.between_hosts.dst),
            alike=alike(self.layout),
            agent_sent=flows.sent + flows.again,
            agent_acked=flows.acked - flows.covered,
            agent_cnps=flows.cnps.copy(),
            agent_ce=flows.ce.copy(),
            nic_sent=_integers(tx["packets"]),
            lost=_integers(tx["lost"]),
            answers_lost=_integers(tx["answers_lost"]),
            nic_acks=_integers(tx["acks"]),
            nic_cnps=_integers(tx["cnps"]),
            nic_ce=_integers(tx["ce_echoes"]),
            received=received,
            answered=answered,
            received_ce=_integers(rx["ce"]),
            sent_ce=np.where(self.layout.plan.ecn == CE, received, 0),
            cnps_made=_integers(rx["cnps"]),
            ring_full=_integers(tx["ring_full"]),
            unread=unread,
        )

    def ports(self, entered: Ints | None = None) -> PortCounts:
        """Of all switch ports; with packets that ``entered`` there, where that was counted."""
        shape, ports = self.layout.shape, self.maps.counters[self.index]
        first = (shape.port_of(shape.home[one.neighbour]) if one.to_host else one for one in shape.ports)
        return PortCounts(
            name=self.layout.port_names,
            enqueued=_integers(ports["packets"]),
            marked=_integers(ports["marked_packets"]),
            dropped=_integers(ports["dropped_packets"] + ports["lost_packets"]),
            tx_bytes=ports["bytes"].astype(float),
            rate=self.layout.port_rate,
            switch=[port.switch for port in shape.ports],
            far=np.array([shape.position.get(port.peer.interface, -1) for port in shape.ports]),
            arrived=_integers(self.arrivals["packets"][self.peer]),
            bond=np.array([shape.position[port.name] for port in first]) if shape.bonds else None,
            entered=entered,
        )

    def pauses(self, now_ns: int) -> PauseCounts:
        """Of priority flow control."""
        ingresses, records = self.maps.ingresses[self.index], self.maps.pauses[self.peer]
        return PauseCounts(
            residual=_integers(ingresses["bytes"]),
            overrun=_integers(self.maps.counters["dropped_packets"][self.index]),
            sent=_integers(ingresses["frames"]),
            received=_integers(records["frames"]),
            unsignalled=_integers(ingresses["unsignalled"]),
            resumed=(ingresses["paused"] == 0) & pauses.are_resumed(records, now_ns),
        )

    def priorities(self, memory: Memory, groups: NDArray[np.void], interfaces: int, now_ns: int) -> PauseCounts:
        """The same where each priority pauses by itself, in the sum of a port's; ``groups`` by row of all.

        Slow hosts pause as well, and have headroom: what they do counts at their ports.
        """
        numbers = list(memory.groups)
        rows, far = (group_rows(one, numbers, interfaces) for one in (self.index, self.peer))
        records, ingresses = self.maps.pauses[far], self.maps.ingresses[rows]
        lossless = [number for number, one in enumerate(memory.groups.values()) if one.lossless]
        host = np.array([[port.to_host] for port in self.layout.shape.ports])
        dropped = _integers(groups["dropped_packets"][rows] + host * groups["dropped_packets"][far])
        sent = _integers(ingresses["frames"] + host * self.maps.ingresses["frames"][far])
        received = _integers(records["frames"] + host * self.maps.pauses["frames"][rows])
        return PauseCounts(
            residual=_integers(groups["bytes"][rows]).sum(axis=1),
            overrun=dropped[:, lossless].sum(axis=1),
            sent=sent.sum(axis=1),
            received=received.sum(axis=1),
            unsignalled=_integers(ingresses["unsignalled"]).sum(axis=1),
            resumed=((ingresses["paused"] == 0) & pauses.are_resumed(records, now_ns)).all(axis=1),
        )

    def srcs(self, flows: Flows) -> SrcCounts | None:
        """Of Bolt; None where ports do not speak it."""
        if self.maps.bolt is None:
            return None
        ports = self.maps.bolt[self.index]
        return SrcCounts(
            agent_read=flows.srcs.copy(),
            nic_received=_integers(self.flows_tx["notices"]),
            made=_integers(self.flows_tx["notices_made"]),
            asked=_integers(ports["asked"]),
            sent=_integers(ports["made"]),
        )

    def credits(self) -> CreditCounts | None:
        """None where receivers grant nothing."""
        if self.layout.experiment.receiver is None:
            return None
        return CreditCounts(_integers(self.flows_tx["notices_made"]), _integers(self.flows_tx["notices"]))

    def recovery(self, flows: Flows) -> RecoveryCounts | None:
        """None where a lost packet goes on as another one."""
        experiment = self.layout.experiment
        if not experiment.transport.numbered:
            return None
        rx = self.receivers()
        delivered = _integers(rx["delivered"])
        whole = delivered * self.layout.framing.payload
        return RecoveryCounts(
            delivered=delivered,
            delivered_bytes=_integers(rx["payload_bytes"]),
            duplicates=_integers(rx["duplicates"]),
            discarded=_integers(rx["discarded"]),
            expected=_integers(rx["expected"]),
            kept=_bits(rx["kept"]),
            payload=np.minimum(whole, self.layout.plan.size).astype(np.int64),
            naks=_integers(rx["naks"]),
            overtaken=_integers(rx["overtaken"]),
            trims=_integers(rx["trims"]),
            marks=_integers(rx["marks"]),
            agent_expected=flows.expected.copy(),
            agent_payload=flows.acked_payload.copy(),
            agent_naks=flows.naks.copy(),
            agent_trims=flows.trims.copy(),
            trimmed=int(self.maps.counters["trimmed_packets"][self.index].sum()),
            trims_dropped=self._trims_dropped(),
            one_path=not experiment.routing.many_paths and not experiment.events,
        )

    def _trims_dropped(self) -> int:
        trim, counters = self.layout.experiment.rack.switch.trim, self.maps.counters
        if trim is None:
            return 0
        rows = self.index + (1 + trim.queue) * (len(counters) // (1 + wire.QUEUES))
        return int((counters["dropped_packets"] + counters["lost_packets"])[rows].sum())

    def _last_port(self, hosts: list[str]) -> Ints:
        """Positions of the switch ports that lead to hosts."""
        towards = self.layout.shape.towards
        return np.array([towards[host] for host in hosts], np.int64)


def alike(layout: Layout) -> Ints:
    """Number of each flow's group; flows of a group differ in nothing but their host.

    -1 for flows whose paths differ (they cross several switches), and for all where links fail.
    """
    plan, shape = layout.plan, layout.shape
    if layout.experiment.events:
        return np.full(len(plan), -1)
    groups: dict[object, int] = {}
    number = np.full(len(plan), -1)
    for flow, (src, dst) in enumerate(zip(plan.src, plan.dst, strict=True)):
        here, there = shape.port_of(src), shape.port_of(dst)
        if here.switch == there.switch:
            line = here.link.rate, here.link.delay, here.link.loss
            what = (
                plan.size[flow],
                plan.start[flow],
                plan.waits[flow],
                plan.label[flow],
                plan.dscp[flow],
                plan.ecn[flow],
            )
            like = dst, line, layout.experiment.decider[flow], what
            number[flow] = groups.setdefault(like, len(groups))
    return number


def unread(waiting: list[NDArray[np.void]], flows: int) -> Ints:
    """Feedback per flow in rings; where receivers grant credits, other records are in them as well."""
    counts = np.zeros(flows, np.int64)
    for records in waiting:
        answers = ~np.isin(records["opcode"], (*wire.DATA, wire.CREDIT))
        np.add.at(counts, records["flow"][answers].astype(np.int64), 1)
    return counts


def _bits(words: NDArray[np.uint64]) -> Ints:
    """How many are set, per row."""
    bits = np.unpackbits(np.ascontiguousarray(words).view(np.uint8), axis=1)
    return np.asarray(bits.sum(axis=1), np.int64)


def _integers(column: NDArray[np.uint64]) -> Ints:
    return column.astype(np.int64)
