"""Building a rack through Mininet's API: topology, hosts, links, shapers, programs.

Everything here is wall-clock; the caller converts (`testbed.clock`).
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mininet.net import Mininet
from mininet.topo import Topo

from testbed.dataplane.port_maps import Port
from testbed.dataplane.programs import NicPrograms, PortPrograms
from testbed.dataplane.shaper import HEADROOM, burst
from testbed.engines.kernel.nodes import RackNode
from testbed.engines.kernel.rack.gate import PortGate
from testbed.engines.kernel.rack.host import RackHost
from testbed.engines.kernel.rack.link import RackIntf, RackLink
from testbed.engines.kernel.rack.router import RouterSwitch
from testbed.engines.kernel.rack.switch import SWITCHES
from testbed.errors import TestbedError
from testbed.experiment.topology.shape import Link, Shape
from testbed.experiment.topology.tables import Hops, Tables

ACTIVATION_SECONDS = 5.0
FEW_LINKS = 16  # up to so many their programs attach by tcx, which takes 25 ms per link; see `RackIntf.attach`
FIRST_INDEX = 64  # of interfaces; those that the kernel numbers itself (lo, a bridge) are below


@dataclass(frozen=True)
class Wire:
    """How links and ports behave besides the shape's own figures, in wall-clock units."""

    frame: int  # bytes of a full frame
    buffer: int  # bytes of a switch port
    netem: Sequence[float] | None = None  # s per link, see `netem_delay`; None where the agents delay feedback
    forwarding: str = "bridge"  # of a star: a key of SWITCHES
    seed: int = 1  # of ECMP's hash
    pooled: int = 0  # bytes that may wait at a switch port with priority flow control: what its switch's ports have


class Cabling(Topo):
    """A shape in Mininet's words. A host's end of a link is ``intf1``."""

    def build(self, shape: Shape, mtu: int) -> None:
        """Called by Mininet's Topo."""
        routed = len(shape.switches) > 1
        for number, switch in enumerate(shape.switches, start=1):
            self.addSwitch(switch, inNamespace=routed, number=number)
        for position, link in enumerate(shape.links):
            number = position + 1
            tail = f"{number >> 16:02x}:{number >> 8 & 255:02x}:{number & 255:02x}"
            if not link.low.port:
                self.addHost(link.low.node, ip=f"{shape.address(link.low.node)}/{32 if routed else 8}")
            self.addLink(
                link.low.node, link.high.node, port1=link.low.port, port2=link.high.port,
                intfName1=link.low.interface, intfName2=link.high.interface,
                addr1=f"02:00:00:{tail}", addr2=f"02:01:00:{tail}",
                index=FIRST_INDEX + 2 * position, spec=link, mtu=mtu,
            )  # fmt: skip


class Rack(Mininet):
    """A running rack. ``ports[i]`` is the switch port ``shape.ports[i]``."""

    def __init__(self, shape: Shape, wire: Wire) -> None:
        self.shape, self.wire = shape, wire
        self.routed = len(shape.switches) > 1
        Mininet.inited = True  # its own preparation writes machine-wide sysctls
        super().__init__(
            topo=Cabling(shape=shape, mtu=max(1500, wire.frame)), host=RackHost,
            switch=RouterSwitch if self.routed else SWITCHES[wire.forwarding],
            link=RackLink, controller=None, waitConnected=False,
        )  # fmt: skip
        self.ends: dict[str, RackIntf] = {
            intf.name: intf for link in self.links for intf in (link.intf1, link.intf2) if intf.name != "e0"
        }
        self.tables = Tables(shape)
        self.gates: list[PortGate] = []  # of ports between switches, with priority flow control
        self._positions = {link: position for position, link in enumerate(shape.links)}
        self.start()
        if self.routed:
            self._route()
        self._shape()
        self.ports: list[Port] = []

    @property
    def largest_ifindex(self) -> int:
        """Of all interfaces; no two have the same."""
        return FIRST_INDEX + 2 * len(self.links) - 1

    def _route(self) -> None:
        for switch in self.switches:
            switch.route(self.shape, self.wire.seed)
        self._lead(self.tables.hops)
        for host in self.hosts:
            host.use_gateway()

    def _lead(self, hops: Hops) -> None:
        for (switch, edge), ports in hops.items():
            self[switch].lead(self.shape.prefix(edge), ports)

    def _shape(self) -> None:
        limit = 2 * max(self.wire.buffer, self.wire.pooled) + HEADROOM
        for position, link in enumerate(self.links):
            gated = self.wire.pooled and link.spec.low.port
            for end in (link.intf1, link.intf2):
                if gated:
                    end.shape(link.spec.rate, self.wire.frame, limit)
                    self.gates.append(PortGate(end, limit))
                elif self.wire.netem is None or (end is link.intf2 and not link.spec.low.port):
                    end.shape(link.spec.rate, self.wire.frame, limit)
                else:
                    end.delay_and_shape(link.spec.rate, self.wire.frame, limit, self.wire.netem[position])

    def attach(self, nic: NicPrograms, seed: int, monitor: int = 0) -> PortPrograms:
        """Put the programs in their places and switch the ports on. For ``monitor`` see `PortPrograms`."""
        self.programs = ports = PortPrograms(nic, monitor)
        tcx = len(self.links) <= FEW_LINKS
        for link in self.links:
            if link.spec.low.port:
                for end in (link.intf1, link.intf2):
                    end.attach("ingress", ports.ingress_fd, "port_ingress", tcx=tcx)
                continue
            link.intf1.attach("ingress", nic.rx_fd, "nic_rx", tcx=tcx)
            if self.wire.netem is None:
                # The far end of the veth is where a packet has left the host's shaper: waiting in one's own shaper
                # is not the network's delay.
                link.intf2.attach("ingress", nic.tx_fd, "nic_tx", tcx=tcx)
            else:
                link.intf1.attach("egress", nic.tx_fd, "nic_tx", tcx=tcx)
        self.ports = list(self._ports())
        for port, place in zip(self.ports, self.shape.ports, strict=True):
            self.ends[place.name].attach("egress", ports.fd, "port_egress", tcx=tcx)
            ports.configure(port, seed)
        return ports

    def _ports(self) -> Iterator[Port]:
        frame = self.wire.frame
        for place in self.shape.ports:
            end = self.ends[place.name]
            far = end.link.intf1 if end.link.intf2 is end else end.link.intf2
            delayed = 0.0 if self.wire.netem is None or place.to_host else self.wire.netem[self._positions[place.link]]
            yield Port(
                ifindex=end.index,
                node=self.shape.switches.index(place.switch) + 1 << 16 | place.number,
                rate=place.link.rate,
                buffer=self.wire.buffer,
                slack=burst(place.link.rate, frame) + 2 * frame + round(delayed * place.link.rate / 8),
                loss=place.link.loss,
                peer=far.index,
            )

    def cut(self, name: str) -> None:
        """Take a link between switches down, by the name of one of its ports or by its ends: ``leaf1-spine2``.

        What is on it or will be sent into it is lost, and counted as the model's loss, until `reroute`. Raises KeyError
        if there is no such link.
        """
        self.tables.cut(name)
        self._set_loss(self.shape.find(name), 1.0)

    def mend(self, name: str) -> None:
        """Put a link back into service; until `reroute` nobody uses it."""
        self.tables.mend(name)
        link = self.shape.find(name)
        self._set_loss(link, link.loss)

    def _set_loss(self, link: Link, loss: float) -> None:
        for end in (link.low, link.high):
            self.programs.set_loss(self.ports[self.shape.position[end.interface]], loss)

    def reroute(self, names: Sequence[str]) -> None:
        """The switches notice what has become of these links: those that have other shortest paths take them."""
        self._lead(self.tables.reroute(names))

    def connect(self, pairs: set[tuple[str, str]]) -> None:
        """Neighbour entries for hosts that will talk, so that no flow waits for ARP. Routed hosts have a gateway."""
        if self.routed:
            return
        for src, dst in sorted(pairs):
            far = self[dst].defaultIntf()
            self[src].add_neighbour(far.IP(), far.MAC())

    def enterable(self) -> Iterator[RackNode]:
        """Hosts and switches, for those who want to look inside."""
        yield from (RackNode(host.name, host.IP(), host.netns) for host in self.hosts)
        yield from (RackNode(switch.name, "", switch.netns) for switch in self.switches)

    def shaper_drops(self) -> int:
        """Packets that shapers and netem have dropped: none of them was the model's decision."""
        ends = [intf for link in self.links for intf in (link.intf1, link.intf2)]
        return sum(intf.qdisc_drops() for intf in ends)

    def wait_until_active(self) -> None:
        """Return when every interface's queue works; raises TestbedError naming those that do not."""
        waiting = [intf for link in self.links for intf in (link.intf1, link.intf2)]
        deadline = time.monotonic() + ACTIVATION_SECONDS
        while waiting:
            waiting = [intf for intf in waiting if not intf.is_running()]
            if waiting and time.monotonic() > deadline:
                names = ", ".join(f"{intf.node.name}:{intf.name}" for intf in waiting[:5])
                raise TestbedError(f"{len(waiting)} interfaces did not come up in {ACTIVATION_SECONDS:g} s: {names}")
            if waiting:
                time.sleep(0.01)
