"""Priority flow control of one run: sizes and times for the programs, the pause generator and the agents."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from testbed.agent.agent import CHECKS_PER_RTT, USUAL_LATENESS
from testbed.agent.pace import Pauses
from testbed.base.arrays import Ints
from testbed.clock import SHORTEST_SLEEP, Clock, WallSeconds
from testbed.dataplane.class_rows import row_of
from testbed.dataplane.programs import NicPrograms, Thresholds
from testbed.dataplane.shaper import burst
from testbed.dataplane.wire import LOSSLESS
from testbed.engines.kernel.pfc.generator import PauseGenerator, PausingPort
from testbed.engines.kernel.pfc.watchdog import Maps, PauseWatchdog
from testbed.engines.kernel.rack import pause_frames
from testbed.engines.kernel.rack.gate import in_flight
from testbed.engines.kernel.rack.net import Rack
from testbed.engines.kernel.rack.wall import WallLink
from testbed.experiment.layout import Layout
from testbed.experiment.topology import headroom
from testbed.experiment.topology.headroom import Headroom

GATE_LATENESS = 30e-3  # wall seconds for which others may hold RTNL, the kernel's lock of all network devices
OF_GROUPS = Thresholds(xoff=1)  # there is PFC; what they are, each group says itself (pool.bpf.h)
CHECKS_PER_HOLD = 2  # of a paused host: it must know of its resumption before that takes effect


class Lossless:
    """Takes nominal units, and hands the kernel wall-clock ones."""

    watchdog: PauseWatchdog | None = None  # what ends pauses that do not end by themselves
    intake_headroom = 0  # bytes of a slow host's receive buffer beyond xoff

    def __init__(
        self,
        thresholds: Thresholds,
        headroom: Headroom,
        groups: Sequence[int],
        *,
        delay: float,
        sleep: float,
        trips: int,
        watchdog: Callable[[Maps], PauseWatchdog] | None = None,
    ) -> None:
        """``groups`` that pause by themselves, as priorities; none where a port pauses as a whole.

        ``delay`` of a host's link, and the shortest ``sleep`` of an agent: nominal seconds; ``trips`` of a link until a
        crossing takes effect.
        """
        self.thresholds, self.groups = thresholds, groups
        self.headroom = headroom  # that of the group with the least to spare
        self.trips = trips
        self._make_watchdog = watchdog
        self.relook = max(self.trips * delay / CHECKS_PER_HOLD, sleep)

    def start(self, rack: Rack, nic: NicPrograms) -> None:
        """Start the generator: from now on the switches pause their hosts, and each other."""
        self.nic = nic
        self.interfaces = rack.largest_ifindex + 1
        ports = []
        for link in rack.links:
            spec: WallLink = link.spec
            quantum = pause_frames.quantum(spec.rate)
            longest = WallSeconds(pause_frames.LONGEST * quantum)
            for port, peer in ((link.intf2, link.intf1), (link.intf1, link.intf2)):
                if port.name not in rack.ends and port.node.name not in rack.link_layer.slow:
                    continue
                for priority in self.groups or [LOSSLESS]:
                    record = nic.pauses[self._row(peer.index, priority)]
                    record["hold_ns"] = round(self.trips * spec.delay * 1e9)
                    record["quantum_ps"] = round(quantum * 1e12)
                    row = self._row(port.index, priority)
                    ports.append(PausingPort(row, priority, port.name, port.MAC(), port.node.netns, longest))
        if self._make_watchdog and nic.departures is not None:
            counters = rack.programs.counters
            self.watchdog = self._make_watchdog(Maps(self.interfaces, counters, nic.departures, nic.shares, nic.pauses))
        self.generator = PauseGenerator(
            nic.pause_events_fd, nic.ingresses, nic.pauses, ports, rack.gates, watchdog=self.watchdog
        )

    def _row(self, interface: int, priority: int) -> int:
        return row_of(interface, priority, self.interfaces) if self.groups else interface

    def pauses(self, interface: Ints, host: Ints, priority: Ints) -> Pauses:
        """Where an agent finds out what of its hosts is paused: given by their interfaces' indices, and of each of its
        flows the position of its host, and its priority.
        """
        if not self.groups:
            return Pauses(self.nic.pauses, interface, self.relook)
        return Pauses.of_priorities(
            self.nic.pauses, interface, host, priority, interfaces=self.interfaces, relook=self.relook
        )

    def reset(self) -> None:
        """Set all counters to 0; no packet may be in flight and no port paused."""
        self.nic.ingresses[:] = 0
        for column in ("span", "spans", "paused_ns", "frames", "late_ns"):
            self.nic.pauses[column] = 0
        self.generator.reset()
        if self.watchdog:
            self.watchdog.forget()

    def late(self, clock: Clock) -> tuple[float, float]:
        """Nominal seconds by which the latest pause began too late, and by how much it might.

        A pause frame that came too late to be honoured in time, or a gate that was shut too late: the worse of the two.
        """
        frame = clock.nominal_seconds(float(self.nic.pauses["late_ns"].max()) / 1e9)
        gate = clock.nominal_seconds(self.generator.late)
        return max((frame, self.headroom.spare), (gate, self.headroom.gate_spare), key=lambda one: one[0] / one[1])


def lossless_of(layout: Layout, clock: Clock, use_netem: bool) -> Lossless | None:
    """Priority flow control, if the experiment asks for it. Raises BadInput if its sizes are too small.

    Packets take no time here from one end of a link to the other, and neither do pause frames: the whole round trip of
    the link passes between a crossing and its effect. netem, however, delays packets for longer than that.
    """
    switch, frame = layout.experiment.rack.switch, layout.framing.wire_size
    groups = switch.memory.lossless if switch.memory else []
    if not switch.pfc and not groups:
        return None
    late = _lateness(layout, clock)
    links = _ingress_links(layout, clock, late)
    shortest = min(link.delay for link in layout.shape.links)
    made = partial(Lossless, delay=shortest, sleep=clock.nominal_seconds(SHORTEST_SLEEP), trips=0 if use_netem else 2)
    if switch.pfc:
        buffer = headroom.ingress_buffer(switch.pfc, links, layout.shape.largest_buffer, frame, late)
        return made(Thresholds(buffer.xoff, buffer.xon, buffer.limit), buffer.headroom, [])
    rooms = [
        _headroom_of_group(f"rack.switch.groups.{number}.headroom", switch.groups[number].headroom, links, frame, late)
        for number in groups
    ]
    watchdog = partial(PauseWatchdog.of, switch.watchdog, clock) if switch.watchdog else None
    intake = _intake_headroom(layout, clock, late)
    rooms += [intake] if intake else []
    lossless = made(OF_GROUPS, min(rooms, key=lambda one: one.spare), groups, watchdog=watchdog)
    lossless.intake_headroom = intake.size if intake else 0
    return lossless


def _intake_headroom(layout: Layout, clock: Clock, late: float) -> Headroom | None:
    """Of the receive buffers of slow hosts, whose ports have gates."""
    receive, frame = layout.experiment.rack.nic.receive, layout.framing.wire_size
    if receive is None:
        return None
    links = [
        _gated(headroom.IngressLink(link.kind, link.rate, link.delay, late), clock, frame)
        for link in layout.shape.links
        if not link.low.port
    ]
    return _headroom_of_group("rack.nic.receive.headroom", receive.headroom, links, frame, late)


def headroom_needed(layout: Layout, clock: Clock) -> int:
    """Bytes of a lossless group that says 'auto'."""
    late = _lateness(layout, clock)
    return _headroom_of_group("", "auto", _ingress_links(layout, clock, late), layout.framing.wire_size, late).size


def _headroom_of_group(
    key: str, configured: float | str, links: Sequence[headroom.IngressLink], frame: int, late: float
) -> Headroom:
    """The packet because of which a group pauses is the first in its headroom."""
    return headroom.headroom_of(configured, key, links, frame, late=late, taken=frame)


def _lateness(layout: Layout, clock: Clock) -> float:
    """Seconds by which hosts and pause frames may be late."""
    return max(layout.longest_rtt / CHECKS_PER_RTT, clock.nominal_seconds(USUAL_LATENESS))


def _ingress_links(layout: Layout, clock: Clock, late: float) -> list[headroom.IngressLink]:
    """What each kind of link may deliver, from hosts that are at most ``late`` s late."""
    links, frame = set(), layout.framing.wire_size
    for link in layout.shape.links:
        ingress = headroom.IngressLink(link.kind, link.rate, link.delay, late)
        links.add(_gated(ingress, clock, frame) if link.low.port else ingress)
    return list(links)


def _gated(link: headroom.IngressLink, clock: Clock, frame: int) -> headroom.IngressLink:
    """One whose sender is a port with a gate."""
    shut = max(link.late, clock.nominal_seconds(GATE_LATENESS))
    return replace(link, late=shut, begun=burst(clock.wall_rate(link.rate), frame) + in_flight(frame))
