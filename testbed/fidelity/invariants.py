"""What must hold in every run, whatever the algorithm does: each check compares independent counters.

A broken invariant means that something other than the experiment shaped the result: the verdict says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from testbed.base.arrays import Ints
from testbed.fidelity.counters import Counts

RATE_TOLERANCE = 0.01  # of a link: a token bucket may be ahead by its burst


@dataclass(frozen=True)
class Broken:
    """An invariant that does not hold."""

    what: str
    how_much: str


def broken(counts: Counts) -> list[Broken]:
    """All invariants that do not hold."""
    return [one for check in CHECKS for one in check(counts)]


def agents_and_nics_agree(counts: Counts) -> Iterator[Broken]:
    """Every packet that an agent sent left its host; all feedback that reached a host was read, or is still waiting."""
    flows = counts.flows
    yield from _differences(
        "packets sent by agents did not leave their hosts",
        "packets left hosts that no agent sent",
        flows.agent_sent - flows.nic_sent,
    )
    read = flows.agent_acked + flows.agent_cnps + flows.unread + flows.ring_full
    yield from _differences(
        "feedback at the senders' NICs was not read",
        "agents read feedback that their NICs did not receive",
        flows.nic_acks + flows.nic_cnps - read,
    )


def packets_are_conserved(counts: Counts) -> Iterator[Broken]:
    """Sent = delivered + dropped by the model: in all, at every switch, and over every link.

    With one switch also at every port: data towards a host, and answers back to it. In larger racks ECMP decides which
    ports a flow takes, but what goes into a switch is known, and what each of its ports did with it.
    """
    flows, ports = counts.flows, counts.ports
    answers = flows.received + flows.cnps_made
    missing = np.zeros(len(ports.name), np.int64)
    np.add.at(missing, flows.dst_port, flows.nic_sent - flows.received)
    np.add.at(missing, flows.src_port, answers - flows.nic_acks - flows.nic_cnps)
    switches = sorted(set(ports.switch))
    if len(switches) == 1:
        for port in np.flatnonzero(missing != ports.dropped):
            how_much = f"{missing[port]} packets missing, {ports.dropped[port]} dropped by the model"
            yield Broken(f"packets are not conserved at {ports.name[port]}", how_much)
        return
    if missing.sum() != ports.dropped.sum():
        how_much = f"{missing.sum()} packets missing, {ports.dropped.sum()} dropped by the model"
        yield Broken("packets are not conserved in the rack", how_much)
    entered = np.zeros(len(ports.name), np.int64)  # at each port, from the host or port at the other end
    np.add.at(entered, flows.src_port, flows.nic_sent)
    np.add.at(entered, flows.dst_port, answers)
    trunks = ports.far >= 0
    entered[ports.far[trunks]] = ports.arrived[trunks]
    lost_on_link = ports.enqueued - ports.arrived
    left = ports.enqueued + ports.dropped - lost_on_link
    for switch in switches:
        here = np.array([name == switch for name in ports.switch])
        if entered[here].sum() != left[here].sum():
            how_much = f"{entered[here].sum()} packets came, {left[here].sum()} left or were dropped by the model"
            yield Broken(f"packets are not conserved in {switch}", how_much)


def links_lose_nothing(counts: Counts) -> Iterator[Broken]:
    """What a port has enqueued comes out of its link, but for what the model has lost there."""
    ports = counts.ports
    for port in np.flatnonzero((ports.arrived > ports.enqueued) | (ports.arrived < ports.enqueued - ports.dropped)):
        how_much = f"{ports.enqueued[port]} packets in, {ports.arrived[port]} out"
        yield Broken(f"packets lost on the link of {ports.name[port]}", how_much)


def marks_are_echoed(counts: Counts) -> Iterator[Broken]:
    """CE marks set = marks received = marks echoed to senders, less what was dropped on the way back.

    Where there are several ports on the way, a packet may be marked twice, and dropped afterwards.
    """
    flows, ports = counts.flows, counts.ports
    received = np.zeros(len(ports.name), np.int64)
    np.add.at(received, flows.dst_port, flows.received_ce)
    one_switch = len(set(ports.switch)) == 1
    last = ports.far < 0
    for port in np.flatnonzero(last & ((received != ports.marked) if one_switch else (received < ports.marked))):
        yield Broken(
            f"CE marks set and received differ at {ports.name[port]}", f"{ports.marked[port]} and {received[port]}"
        )
    if received.sum() > ports.marked.sum():
        yield Broken("more CE marks received than set", f"{received.sum()} and {ports.marked.sum()}")
    lost_answers = flows.received - flows.nic_acks
    unechoed = flows.received_ce - flows.nic_ce
    wrong = int(((unechoed < 0) | (unechoed > lost_answers)).sum())
    if wrong:
        yield Broken("CE marks received and echoed differ", f"{wrong} flows")


def telemetry_is_ordered(counts: Counts) -> Iterator[Broken]:
    """INT hops come in path order, with time and bytes that only grow."""
    if counts.int_faults:
        yield Broken("INT records are out of order", f"{counts.int_faults} records")


def no_link_is_exceeded(counts: Counts) -> Iterator[Broken]:
    """Nothing is faster than its link over the whole run."""
    ports = counts.ports
    rate = ports.tx_bytes * 8 / counts.duration
    for port in np.flatnonzero(rate > ports.rate * (1 + RATE_TOLERANCE)):
        yield Broken(f"{ports.name[port]} exceeded its link rate", f"{rate[port] / ports.rate[port]:.3f} of the rate")


def queues_agree(counts: Counts) -> Iterator[Broken]:
    """The virtual queue that marks and the shaper's queue that delays are the same, within a burst."""
    if counts.queue_difference > counts.queue_tolerance:
        yield Broken(
            "virtual queue and shaper differ",
            f"by {counts.queue_difference:.0f} bytes; a burst is {counts.queue_tolerance:.0f}",
        )


def the_named_controller_ran(counts: Counts) -> Iterator[Broken]:
    """Every agent ran the configured class, from the configured file."""
    if not counts.loaded_plugins:
        yield Broken("no controller identified", "no agent")
    for agent, decider in enumerate(counts.loaded_plugins):
        if decider != counts.wanted:
            how_much = f"agent {agent} ran {decider.form} of {decider.file} ({decider.sha256[:12]})"
            wanted = f"{counts.wanted.form} of {counts.wanted.file} ({counts.wanted.sha256[:12]})"
            yield Broken("wrong controller", f"{how_much} instead of {wanted}")


def lossless_means_no_drop(counts: Counts) -> Iterator[Broken]:
    """With priority flow control, no packet exceeds the headroom of its ingress."""
    if counts.pauses:
        for port in np.flatnonzero(counts.pauses.overrun):
            how_much = f"{counts.pauses.overrun[port]} packets exceeded the headroom; raise rack.switch.pfc.headroom"
            yield Broken(f"packet drops despite PFC at {counts.ports.name[port]}", how_much)


def pauses_are_settled(counts: Counts) -> Iterator[Broken]:
    """Ingress accounting is back at zero; every crossing was signalled, received and resumed."""
    if not counts.pauses:
        return
    pauses, names = counts.pauses, counts.ports.name
    for port in np.flatnonzero(pauses.residual):
        yield Broken(f"ingress accounting of {names[port]} is not zero", f"{pauses.residual[port]} bytes are left")
    for port in np.flatnonzero(pauses.sent != pauses.received):
        yield Broken(
            f"PFC frames lost from {names[port]}", f"{pauses.sent[port]} sent, {pauses.received[port]} received"
        )
    for port in np.flatnonzero(pauses.unsignalled):
        yield Broken(f"PFC threshold crossings lost at {names[port]}", f"{pauses.unsignalled[port]} events")
    for port in np.flatnonzero(~pauses.resumed):
        yield Broken(f"{names[port]} is still paused", "its queue has drained")


CHECKS: tuple[Callable[[Counts], Iterator[Broken]], ...] = (
    agents_and_nics_agree,
    packets_are_conserved,
    links_lose_nothing,
    marks_are_echoed,
    telemetry_is_ordered,
    no_link_is_exceeded,
    queues_agree,
    the_named_controller_ran,
    lossless_means_no_drop,
    pauses_are_settled,
)


def _differences(fewer: str, more: str, difference: Ints) -> Iterator[Broken]:
    for what, missing in ((fewer, difference), (more, -difference)):
        flows = np.flatnonzero(missing > 0)
        if len(flows):
            yield Broken(what, f"{missing[flows].sum()} packets of {len(flows)} flows, the first is flow {flows[0]}")
