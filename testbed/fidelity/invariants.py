"""What must hold in every run, whatever the algorithm does: each check compares counters that do not know each other.

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
    """Every packet that an agent sent left its host; every answer that reached a host was read, or is still waiting."""
    flows = counts.flows
    yield from _differences(
        "packets sent by agents never left their hosts",
        "packets left hosts that no agent had sent",
        flows.agent_sent - flows.nic_sent,
    )
    heard = flows.agent_acked + flows.agent_cnps + flows.unread + flows.ring_full
    yield from _differences(
        "answers at the senders' NICs were not read",
        "agents read answers that had not come to their NICs",
        flows.nic_acks + flows.nic_cnps - heard,
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
    entered = np.zeros(len(ports.name), np.int64)  # at each port, from the host or the port at its far end
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
        yield Broken(f"packets vanished behind {ports.name[port]}", how_much)


def marks_are_echoed(counts: Counts) -> Iterator[Broken]:
    """CE marks made = marks seen by receivers = marks echoed to senders, less what was dropped on the way back.

    Where there are several ports on the way, a packet may be marked twice, and dropped afterwards.
    """
    flows, ports = counts.flows, counts.ports
    seen = np.zeros(len(ports.name), np.int64)
    np.add.at(seen, flows.dst_port, flows.received_ce)
    one_switch = len(set(ports.switch)) == 1
    last = ports.far < 0
    for port in np.flatnonzero(last & ((seen != ports.marked) if one_switch else (seen < ports.marked))):
        yield Broken(f"marks made and seen differ at {ports.name[port]}", f"{ports.marked[port]} and {seen[port]}")
    if seen.sum() > ports.marked.sum():
        yield Broken("more marks were seen than made", f"{seen.sum()} and {ports.marked.sum()}")
    lost_answers = flows.received - flows.nic_acks
    unechoed = flows.received_ce - flows.nic_ce
    wrong = int(((unechoed < 0) | (unechoed > lost_answers)).sum())
    if wrong:
        yield Broken("CE marks were not echoed as they were seen", f"{wrong} flows")


def telemetry_is_ordered(counts: Counts) -> Iterator[Broken]:
    """INT hops come in path order, with time and bytes that only grow."""
    if counts.int_faults:
        yield Broken("INT records are out of order", f"{counts.int_faults} records")


def no_link_is_exceeded(counts: Counts) -> Iterator[Broken]:
    """Nothing is faster than its link over the whole run."""
    ports = counts.ports
    rate = ports.tx_bytes * 8 / counts.duration
    for port in np.flatnonzero(rate > ports.rate * (1 + RATE_TOLERANCE)):
        yield Broken(f"{ports.name[port]} was faster than its link", f"{rate[port] / ports.rate[port]:.3f} of the rate")


def queues_agree(counts: Counts) -> Iterator[Broken]:
    """The virtual queue that marks and the shaper's queue that delays are the same, within a burst."""
    if counts.queue_difference > counts.queue_tolerance:
        yield Broken(
            "virtual queue and shaper disagree",
            f"by {counts.queue_difference:.0f} bytes; a burst is {counts.queue_tolerance:.0f}",
        )


def the_named_controller_decided(counts: Counts) -> Iterator[Broken]:
    """Every agent ran the class that was asked for, from the file that was asked for."""
    if not counts.loaded_plugins:
        yield Broken("nobody says who decided", "no agent")
    for agent, decider in enumerate(counts.loaded_plugins):
        if decider != counts.wanted:
            how_much = f"agent {agent} ran {decider.form} of {decider.file} ({decider.sha256[:12]})"
            wanted = f"{counts.wanted.form} of {counts.wanted.file} ({counts.wanted.sha256[:12]})"
            yield Broken("another controller decided", f"{how_much} instead of {wanted}")


def lossless_means_no_drop(counts: Counts) -> Iterator[Broken]:
    """With priority flow control, no packet finds its ingress's headroom used up."""
    if counts.pauses:
        for port in np.flatnonzero(counts.pauses.overrun):
            how_much = f"{counts.pauses.overrun[port]} packets had no room left; raise rack.switch.pfc.headroom"
            yield Broken(f"a lossless fabric dropped packets at {counts.ports.name[port]}", how_much)


def pauses_are_settled(counts: Counts) -> Iterator[Broken]:
    """Every byte that came in has left its account, every crossing was told, heard, and taken back."""
    if not counts.pauses:
        return
    pauses, names = counts.pauses, counts.ports.name
    for port in np.flatnonzero(pauses.left):
        yield Broken(f"the ingress account of {names[port]} is not empty", f"{pauses.left[port]} bytes are left")
    for port in np.flatnonzero(pauses.sent != pauses.heard):
        yield Broken(
            f"pause frames of {names[port]} were lost", f"{pauses.sent[port]} sent, {pauses.heard[port]} heard"
        )
    for port in np.flatnonzero(pauses.untold):
        yield Broken(f"pauses of {names[port]} were not announced", f"{pauses.untold[port]} crossings")
    for port in np.flatnonzero(~pauses.over):
        yield Broken(f"a pause at {names[port]} did not end", "its queue has drained")


CHECKS: tuple[Callable[[Counts], Iterator[Broken]], ...] = (
    agents_and_nics_agree,
    packets_are_conserved,
    links_lose_nothing,
    marks_are_echoed,
    telemetry_is_ordered,
    no_link_is_exceeded,
    queues_agree,
    the_named_controller_decided,
    lossless_means_no_drop,
    pauses_are_settled,
)


def _differences(fewer: str, more: str, difference: Ints) -> Iterator[Broken]:
    for what, missing in ((fewer, difference), (more, -difference)):
        flows = np.flatnonzero(missing > 0)
        if len(flows):
            yield Broken(what, f"{missing[flows].sum()} packets of {len(flows)} flows, the first is flow {flows[0]}")
