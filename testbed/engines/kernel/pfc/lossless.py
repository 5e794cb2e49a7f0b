"""Priority flow control of one run: sizes and times for the programs, the pause generator and the agents."""

from __future__ import annotations

from dataclasses import replace

from testbed.agent.agent import CHECKS_PER_RTT, USUAL_LATENESS
from testbed.agent.pace import Pauses
from testbed.base.arrays import Ints
from testbed.clock import SHORTEST_SLEEP, Clock, WallSeconds
from testbed.dataplane.programs import NicPrograms, Thresholds
from testbed.dataplane.shaper import burst
from testbed.engines.kernel.pfc.generator import PauseGenerator, PausingPort
from testbed.engines.kernel.rack import pause_frames
from testbed.engines.kernel.rack.gate import in_flight
from testbed.engines.kernel.rack.net import Rack
from testbed.engines.kernel.rack.wall import WallLink
from testbed.experiment.layout import Layout
from testbed.experiment.topology import headroom
from testbed.experiment.topology.headroom import IngressBuffer

GATE_LATENESS = 30e-3  # wall seconds for which others may hold RTNL, the kernel's lock of all network devices
CHECKS_PER_HOLD = 2  # of a paused host: it must know of its resumption before that takes effect


class Lossless:
    """Takes nominal units, and hands the kernel wall-clock ones."""

    def __init__(self, buffer: IngressBuffer, delay: float, quantum: float, use_netem: bool) -> None:
        """``delay`` of a host's link; ``quantum`` is the shortest sleep of an agent. Nominal seconds.

        Packets take no time here from one end of a link to the other, and neither do pause frames: the whole round
        trip of the link passes between a crossing and its effect. netem, however, delays packets for longer than that.
        """
        self.buffer = buffer
        self.trips = 0 if use_netem else 2  # of the link, from a crossing to its effect
        self.relook = max(self.trips * delay / CHECKS_PER_HOLD, quantum)

    @property
    def thresholds(self) -> Thresholds:
        """The sizes for the programs."""
        return Thresholds(self.buffer.xoff, self.buffer.xon, self.buffer.limit)

    def start(self, rack: Rack, nic: NicPrograms) -> None:
        """Start the generator: from now on the switches pause their hosts, and each other."""
        self.nic = nic
        ports = []
        for link in rack.links:
            spec: WallLink = link.spec
            quantum = pause_frames.quantum(spec.rate)
            for port, peer in ((link.intf2, link.intf1), (link.intf1, link.intf2)):
                if port.name in rack.ends:
                    record = nic.pauses[peer.index]
                    record["hold_ns"] = round(self.trips * spec.delay * 1e9)
                    record["quantum_ps"] = round(quantum * 1e12)
                    longest = WallSeconds(pause_frames.LONGEST * quantum)
                    ports.append(PausingPort(port.index, port.name, port.MAC(), port.node.netns, longest))
        self.generator = PauseGenerator(nic.pause_events_fd, nic.ingresses, nic.pauses, ports, rack.gates)

    def pauses(self, interfaces: Ints) -> Pauses:
        """Where an agent finds out whether its hosts, given by their interfaces' indices, are paused."""
        return Pauses(self.nic.pauses, interfaces, self.relook)

    def reset(self) -> None:
        """Set all counters to 0; no packet may be in flight and no port paused."""
        self.nic.ingresses[:] = 0
        for column in ("span", "spans", "paused_ns", "frames", "late_ns"):
            self.nic.pauses[column] = 0
        self.generator.reset()

    def late(self, clock: Clock) -> tuple[float, float]:
        """Nominal seconds by which the latest pause began too late, and by how much it might.

        A pause frame that came too late to be honoured in time, or a gate that was shut too late: the worse of the two.
        """
        frame = clock.nominal_seconds(float(self.nic.pauses["late_ns"].max()) / 1e9)
        gate = clock.nominal_seconds(self.generator.late)
        return max((frame, self.buffer.spare), (gate, self.buffer.gate_spare), key=lambda one: one[0] / one[1])


def lossless_of(layout: Layout, clock: Clock, use_netem: bool) -> Lossless | None:
    """Priority flow control, if the experiment asks for it. Raises BadInput if its sizes are too small."""
    pfc = layout.experiment.rack.switch.pfc
    if pfc is None:
        return None
    late = max(float(layout.paths.base_rtt.max()) / CHECKS_PER_RTT, clock.nominal_seconds(USUAL_LATENESS))
    buffer = headroom.ingress_buffer(
        pfc, _ingress_links(layout, clock, late), layout.shape.largest_buffer, layout.framing.wire_size, late
    )
    shortest = min(link.delay for link in layout.shape.links)
    return Lossless(buffer, shortest, clock.nominal_seconds(SHORTEST_SLEEP), use_netem)


def _ingress_links(layout: Layout, clock: Clock, late: float) -> list[headroom.IngressLink]:
    """What each kind of link may deliver, from hosts that are at most ``late`` s late."""
    links, frame = set(), layout.framing.wire_size
    for link in layout.shape.links:
        ingress = headroom.IngressLink(link.kind, link.rate, link.delay, late)
        if link.low.port:
            shut = max(late, clock.nominal_seconds(GATE_LATENESS))
            ingress = replace(ingress, late=shut, begun=burst(clock.wall_rate(link.rate), frame) + in_flight(frame))
        links.add(ingress)
    return list(links)
