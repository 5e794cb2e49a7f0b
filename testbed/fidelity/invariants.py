"""What must hold in every run, whatever the algorithm does: each check compares independent counters.

A broken invariant means that something other than the experiment shaped the result: the verdict says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from testbed.agent.identity import Identity
from testbed.base.arrays import Ints
from testbed.fidelity.counters import Counts, PortCounts
from testbed.results.verdict import Reason

RATE_TOLERANCE = 0.01  # of a link: a token bucket may be ahead by its burst
# Flows that should lose alike: all sent as much as each other, and so none reacted to its losses.
AS_MUCH = 0.05
MANY, LARGE = 500, 0.2  # lost packets of a flow, and their share, on average: chance makes no such differences
UNEQUAL = 0.5  # of the mean
PSNS = 1 << 24  # packet numbers

# What a user can do.
QUIET = "run it again at a higher --dilation, with nothing else in its hosts; if it comes back, run 'testbed selftest'"
TIMERS = "late timers do that: raise --dilation, or run it again on a quiet machine"
RATE = "run it again at a higher --dilation, and leave rack.calibrate on, which measures the rate first"
PLUGIN = "leave the plugin's file alone while it runs, and run it again; in a lab with --playbook, which installs it"
HEADROOM = "raise headroom, in rack.switch.pfc or in rack.switch.groups"


def broken(counts: Counts) -> list[Reason]:
    """All invariants that do not hold."""
    return [one for check in CHECKS for one in check(counts)]


def agents_and_nics_agree(counts: Counts) -> Iterator[Reason]:
    """Every packet that an agent sent left its host; all feedback that reached a host was read, or is still waiting."""
    flows = counts.flows
    yield from _differences(
        "packets sent by agents did not leave their hosts",
        "packets left hosts that no agent sent",
        flows.agent_sent - flows.nic_sent,
    )
    srcs = counts.srcs
    read = flows.agent_acked + flows.agent_cnps + flows.unread + flows.ring_full
    read += srcs.agent_read if srcs else 0
    yield from _differences(
        "feedback at the senders' NICs was not read",
        "agents read feedback that their NICs did not receive",
        flows.nic_acks + flows.nic_cnps + (srcs.nic_received if srcs else 0) - read,
    )


def packets_are_conserved(counts: Counts) -> Iterator[Reason]:
    """Sent = delivered + dropped by the model: in all, at every switch, and over every link.

    Apps' packets have no counter of their own: beside them all packets are compared, at every switch.

    With one switch also at every port: data towards a host, and answers, credits and SRCs back to it. In larger racks
    ECMP decides which ports a flow takes, but what goes into a switch is known, and what each of its ports did with it.
    """
    flows, ports, srcs = counts.flows, counts.ports, counts.srcs
    if counts.apps:
        if counts.apps.entered is not None:
            yield from _switches_keep(ports, counts.apps.entered, broadcasts=True)
        return
    answers = flows.answered + flows.cnps_made
    missing = np.zeros(len(ports.name), np.int64)
    np.add.at(missing, flows.dst_port, flows.nic_sent - flows.lost - flows.received)
    np.add.at(missing, flows.src_port, answers - flows.answers_lost - flows.nic_acks - flows.nic_cnps)
    if srcs:  # which begin in switches
        np.add.at(missing, flows.src_port, srcs.made - srcs.nic_received)
    credits = counts.credits.made if counts.credits else np.zeros_like(answers)
    if counts.credits:
        np.add.at(missing, flows.src_port, credits - counts.credits.nic_received)
    switches = sorted(set(ports.switch))
    if len(switches) == 1:
        dropped = ports.joined(ports.dropped)
        for port in np.flatnonzero(missing != dropped):
            how_much = f"{missing[port]} packets missing, {dropped[port]} dropped by the model"
            yield Reason(what=f"packets are not conserved at {ports.name[port]}", how_much=how_much, remedy=QUIET)
        return
    if missing.sum() != ports.dropped.sum():
        how_much = f"{missing.sum()} packets missing, {ports.dropped.sum()} dropped by the model"
        yield Reason(what="packets are not conserved in the rack", how_much=how_much, remedy=QUIET)
    entered = np.zeros(len(ports.name), np.int64)  # at each port, from the host or port at the other end
    if ports.bond is None:
        np.add.at(entered, flows.src_port, flows.nic_sent - flows.lost)
        np.add.at(entered, flows.dst_port, answers + credits - flows.answers_lost)
    elif ports.entered is None:
        return
    else:
        entered += ports.entered
    trunks = ports.far >= 0
    entered[ports.far[trunks]] = ports.arrived[trunks]
    if srcs:
        entered += srcs.sent
    yield from _switches_keep(ports, entered)


def _switches_keep(ports: PortCounts, entered: Ints, *, broadcasts: bool = False) -> Iterator[Reason]:
    """What came into a switch, at each of its ports, has left it or was dropped by the model.

    A packet of ``broadcasts`` leaves it more than once.
    """
    lost_on_link = ports.enqueued - ports.arrived
    left = ports.enqueued + ports.dropped - lost_on_link
    switches, switch_of = np.unique(ports.switch, return_inverse=True)
    came, gone = np.zeros((2, len(switches)), np.int64)
    np.add.at(came, switch_of, entered)
    np.add.at(gone, switch_of, left)
    for place in np.flatnonzero(came > gone if broadcasts else came != gone):
        how_much = f"{came[place]} packets came, {gone[place]} left or were dropped by the model"
        yield Reason(what=f"packets are not conserved in {switches[place]}", how_much=how_much, remedy=QUIET)


def links_lose_nothing(counts: Counts) -> Iterator[Reason]:
    """What a port has enqueued comes out of its link, but for what the model has lost there."""
    ports = counts.ports
    for port in np.flatnonzero((ports.arrived > ports.enqueued) | (ports.arrived < ports.enqueued - ports.dropped)):
        how_much = f"{ports.enqueued[port]} packets in, {ports.arrived[port]} out"
        yield Reason(what=f"packets lost on the link of {ports.name[port]}", how_much=how_much, remedy=QUIET)


def marks_are_echoed(counts: Counts) -> Iterator[Reason]:
    """CE marks set = marks received = marks echoed to senders, less what was dropped on the way back.

    A packet that its sender has marked may be marked again; so may one that several ports have on their way, and it may
    be dropped afterwards.
    """
    flows, ports = counts.flows, counts.ports
    received, sent = np.zeros((2, len(ports.name)), np.int64)
    np.add.at(received, flows.dst_port, flows.received_ce)
    np.add.at(sent, flows.dst_port, flows.sent_ce)
    one_switch = len(set(ports.switch)) == 1
    last, marked = ports.far < 0, ports.joined(ports.marked)
    fewer, more = received < marked, received > marked + sent
    if counts.apps:  # whose marks only the ports count
        fewer = np.zeros_like(fewer)
    for port in np.flatnonzero(last & (fewer | more if one_switch else fewer)):
        yield Reason(
            what=f"CE marks set and received differ at {ports.name[port]}",
            how_much=f"{marked[port]} and {received[port]}",
            remedy=QUIET,
        )
    if received.sum() > (ports.marked + sent).sum():
        yield Reason(
            what="more CE marks received than set", how_much=f"{received.sum()} and {ports.marked.sum()}", remedy=QUIET
        )
    lost_answers = flows.answered - flows.nic_acks
    unechoed = flows.received_ce - flows.nic_ce
    if counts.recovery:  # an answer tells of all since the last one that did
        unechoed = unechoed - counts.recovery.marks
        lost_answers = np.where(lost_answers, flows.received_ce, 0)
    wrong = int(((unechoed < 0) | (unechoed > lost_answers)).sum())
    if wrong:
        yield Reason(what="CE marks received and echoed differ", how_much=f"{wrong} flows", remedy=QUIET)


def flows_alike_lose_alike(counts: Counts) -> Iterator[Reason]:
    """Whose packets find room in a full buffer is chance."""
    flows = counts.flows
    lost = flows.nic_sent - flows.lost - flows.received
    for group in np.unique(flows.alike[flows.alike >= 0]):
        members = np.flatnonzero(flows.alike == group)
        fewest, most = flows.nic_sent[members].min(), flows.nic_sent[members].max()
        mean = lost[members].mean()
        if most - fewest > AS_MUCH * most or mean < max(MANY, LARGE * most):
            continue
        least = members[lost[members].argmin()]
        if lost[least] < UNEQUAL * mean:
            how_much = (
                f"flow {least} lost {lost[least]} packets, it and {len(members) - 1} others {mean:.0f} on average"
            )
            yield Reason(what="flows that are alike lost unequally", how_much=how_much, remedy=QUIET)


def telemetry_is_ordered(counts: Counts) -> Iterator[Reason]:
    """INT hops come in path order, with time and bytes that only grow."""
    if counts.int_faults:
        yield Reason(what="INT records are out of order", how_much=f"{counts.int_faults} records", remedy=QUIET)


def no_link_is_exceeded(counts: Counts) -> Iterator[Reason]:
    """Nothing is faster than its link over the whole run."""
    ports = counts.ports
    rate = ports.tx_bytes * 8 / counts.duration
    for port in np.flatnonzero(rate > ports.rate * (1 + RATE_TOLERANCE)):
        yield Reason(
            what=f"{ports.name[port]} exceeded its link rate",
            how_much=f"{rate[port] / ports.rate[port]:.3f} of the rate",
            remedy=RATE,
        )


def queues_agree(counts: Counts) -> Iterator[Reason]:
    """The virtual queue that marks and the shaper's queue that delays are the same, within a burst."""
    if counts.queue_difference > counts.queue_tolerance:
        yield Reason(
            what="virtual queue and shaper differ",
            how_much=f"by {counts.queue_difference:.0f} bytes; a burst is {counts.queue_tolerance:.0f}",
            remedy=TIMERS,
        )


def the_named_controllers_ran(counts: Counts) -> Iterator[Reason]:
    """Agents ran the configured classes, from the configured files, and no others."""
    if not counts.loaded_plugins and counts.wanted:
        yield Reason(what="no controller identified", how_much="no agent", remedy=PLUGIN)
        return
    wrong = [number for number, one in enumerate(counts.loaded_plugins) if one not in counts.wanted]
    wanted = " or ".join(map(_named, counts.wanted))
    for number in wrong:
        how_much = f"agent {number} ran {_named(counts.loaded_plugins[number])} instead of {wanted}"
        yield Reason(what="wrong controller", how_much=how_much, remedy=PLUGIN)
    for one in counts.wanted:
        if one not in counts.loaded_plugins and not wrong:
            yield Reason(what="a controller did not run", how_much=_named(one), remedy=PLUGIN)


def _named(one: Identity) -> str:
    return f"{one.form} of {one.file} ({one.sha256[:12]})"


def lossless_means_no_drop(counts: Counts) -> Iterator[Reason]:
    """With priority flow control, no packet exceeds the headroom of its ingress."""
    if counts.pauses:
        for port in np.flatnonzero(counts.pauses.overrun):
            how_much = f"{counts.pauses.overrun[port]} packets exceeded the headroom"
            yield Reason(
                what=f"packet drops despite PFC at {counts.ports.name[port]}", how_much=how_much, remedy=HEADROOM
            )


def delivery_is_in_order(counts: Counts) -> Iterator[Reason]:
    """Packets that are sent again under their numbers are delivered once, in order and byte for byte.

    What a sender takes for delivered has been; NAKs that were made were read, or lost on the way; and where a flow has
    one path, nothing was asked for that had only been overtaken.
    """
    if not (one := counts.recovery):
        return
    flows = counts.flows
    accounted = one.delivered + one.duplicates + one.discarded + one.trims
    yield from _differences(
        "packets came and were neither delivered nor discarded", "more packets were delivered than came",
        flows.received - accounted,
    )  # fmt: skip
    in_order = one.delivered - one.kept
    wrong = (in_order - one.expected) % PSNS
    yield from _differences("packet numbers were delivered twice or left out", "", wrong)
    bytes_off = np.where(one.kept == 0, one.delivered_bytes - one.payload, 0)
    if bytes_off.any():
        flow = int(np.flatnonzero(bytes_off)[0])
        how_much = f"{one.delivered_bytes[flow]} instead of {one.payload[flow]} bytes of flow {flow}"
        yield Reason(what="packets were delivered with other bytes than were sent", how_much=how_much, remedy=QUIET)
    yield from _differences(
        "packets were acknowledged that were not delivered", "", np.maximum(one.agent_expected - in_order, 0)
    )
    ahead = np.maximum(one.agent_payload - one.delivered_bytes, 0)
    yield from _differences("bytes were acknowledged that were not delivered", "", ahead)
    lost = flows.answered - flows.nic_acks + flows.ring_full + flows.unread
    missing = one.naks - one.agent_naks
    yield from _differences("NAKs were neither read nor lost", "agents read NAKs that no receiver made",
        np.where(missing < 0, missing, np.maximum(missing - lost, 0)))  # fmt: skip
    if one.one_path and one.overtaken.any():
        how_much = f"{one.overtaken.sum()} packets were asked for again"
        yield Reason(what="packets overtook each other on one path", how_much=how_much, remedy=TIMERS)


def trims_are_answered(counts: Counts) -> Iterator[Reason]:
    """Of each trimmed packet the headers came and made one NACK, or ports say that they dropped them."""
    one, flows, ports = counts.recovery, counts.flows, counts.ports
    if not one:
        return
    missing = one.trimmed - one.trims.sum() - one.trims_dropped
    if not 0 <= missing <= (ports.enqueued - ports.arrived).sum():
        how_much = f"{one.trimmed} trimmed, {one.trims.sum()} came, {one.trims_dropped} dropped by the model"
        yield Reason(what="headers of trimmed packets are missing", how_much=how_much, remedy=QUIET)
    lost = flows.answered - flows.nic_acks + flows.ring_full + flows.unread
    unread = one.trims - one.agent_trims
    yield from _differences(
        "NACKs of trimmed packets were neither read nor lost", "agents read NACKs that no receiver made",
        np.where(unread < 0, unread, np.maximum(unread - lost, 0)),
    )  # fmt: skip


def srcs_are_sent(counts: Counts) -> Iterator[Reason]:
    """Every SRC that a queue asked for was sent."""
    if not counts.srcs:
        return
    srcs = counts.srcs
    for port in np.flatnonzero(srcs.asked != srcs.sent):
        how_much = f"{srcs.sent[port]} of {srcs.asked[port]}"
        yield Reason(what=f"SRCs of {counts.ports.name[port]} were not sent", how_much=how_much, remedy=QUIET)
    if srcs.made.sum() != srcs.sent.sum():
        how_much = f"{srcs.sent.sum()} of ports and {srcs.made.sum()} of flows"
        yield Reason(what="SRCs sent differ", how_much=how_much, remedy=QUIET)


def pauses_are_settled(counts: Counts) -> Iterator[Reason]:
    """Ingress accounting is back at zero; every crossing was signalled, received and resumed."""
    if not counts.pauses:
        return
    pauses, names = counts.pauses, counts.ports.name
    for port in np.flatnonzero(pauses.residual):
        yield Reason(
            what=f"ingress accounting of {names[port]} is not zero",
            how_much=f"{pauses.residual[port]} bytes are left",
            remedy=TIMERS,
        )
    for port in np.flatnonzero(pauses.sent != pauses.received):
        yield Reason(
            what=f"PFC frames lost from {names[port]}",
            how_much=f"{pauses.sent[port]} sent, {pauses.received[port]} received",
            remedy=TIMERS,
        )
    for port in np.flatnonzero(pauses.unsignalled):
        yield Reason(
            what=f"PFC threshold crossings lost at {names[port]}",
            how_much=f"{pauses.unsignalled[port]} events",
            remedy=TIMERS,
        )
    for port in np.flatnonzero(~pauses.resumed):
        yield Reason(what=f"{names[port]} is still paused", how_much="its queue has drained", remedy=TIMERS)


CHECKS: tuple[Callable[[Counts], Iterator[Reason]], ...] = (
    agents_and_nics_agree,
    packets_are_conserved,
    links_lose_nothing,
    marks_are_echoed,
    flows_alike_lose_alike,
    telemetry_is_ordered,
    no_link_is_exceeded,
    queues_agree,
    the_named_controllers_ran,
    lossless_means_no_drop,
    delivery_is_in_order,
    trims_are_answered,
    srcs_are_sent,
    pauses_are_settled,
)


def _differences(fewer: str, more: str, difference: Ints) -> Iterator[Reason]:
    for what, missing in ((fewer, difference), (more, -difference)):
        flows = np.flatnonzero(missing > 0)
        if len(flows):
            yield Reason(
                what=what,
                how_much=f"{missing[flows].sum()} packets of {len(flows)} flows, the first is flow {flows[0]}",
                remedy=QUIET,
            )
