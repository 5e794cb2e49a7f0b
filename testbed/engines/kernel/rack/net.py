"""Building a rack through Mininet's API: topology, hosts, links, shapers, programs.

Rates and delays are those of `WallLink`; the shape gives names and positions.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from mininet.net import Mininet
from mininet.topo import Topo
from mininet.util import numCores
from numpy.typing import NDArray

from testbed.clock import WallRate
from testbed.dataplane import class_rows
from testbed.dataplane.pool_rows import pool_rows
from testbed.dataplane.port_maps import Port
from testbed.dataplane.programs import NicPrograms, PortPrograms
from testbed.dataplane.shaper import HEADROOM, burst
from testbed.engines.kernel.rack.gate import PortGate, two_classes
from testbed.engines.kernel.rack.host import RackHost
from testbed.engines.kernel.rack.link import RackIntf, RackLink
from testbed.engines.kernel.rack.queues import set_weights, several_queues
from testbed.engines.kernel.rack.router import RouterSwitch
from testbed.engines.kernel.rack.switch import SWITCHES
from testbed.engines.kernel.rack.wall import WallLink
from testbed.engines.nodes import RackNode
from testbed.errors import TestbedError
from testbed.experiment.topology.classes import Classes
from testbed.experiment.topology.shape import Link, Shape
from testbed.experiment.topology.tables import Hops, Tables

ACTIVATION_SECONDS = 5.0
FEW_LINKS = 16  # up to so many their programs attach by tcx, which takes 25 ms per link; see `RackIntf.attach`
ETHERNET_FRAME, ETHERNET_MTU = 1514, 1500  # usual bytes of a frame, and of an IP packet
FIRST_INDEX = 64  # of interfaces; those that the kernel numbers itself (lo, a bridge) are below


@dataclass(frozen=True)
class LinkLayer:
    """Properties of links and ports that are the same in the whole rack."""

    frame: int  # bytes of a full frame
    buffer: int  # bytes of a switch port
    forwarding: str = "bridge"  # of a star: a key of SWITCHES
    seed: int = 1  # of ECMP's hash
    classes: Classes | None = None  # of ports with several queues
    answers_first: bool = False  # they overtake data at every switch port: with Bolt
    pooled: int = 0  # bytes that may wait at a switch port with PFC: the ingress buffers of all ports of its switch
    groups: Sequence[int] = ()  # that pause by themselves, with several queues; as priorities
    headroom: int = 0  # bytes of those that say 'auto'
    slow: Sequence[str] = ()  # hosts that pause their ports
    in_order: bool = False  # packets of a flow are never swapped: where numbers name data that looks like a loss


class RackTopo(Topo):
    """A shape as a Mininet topology. A host's end of a link is ``intf1``."""

    def build(self, shape: Shape, links: Sequence[WallLink], mtu: int, in_order: bool) -> None:
        """Called by Mininet's Topo."""
        routed = len(shape.switches) > 1
        for number, switch in enumerate(shape.switches, start=1):
            self.addSwitch(switch, inNamespace=routed, number=number, dpid=f"{number:x}")  # names may lack a number
        for position, (link, spec) in enumerate(zip(shape.links, links, strict=True)):
            number = position + 1
            tail = f"{number >> 16:02x}:{number >> 8 & 255:02x}:{number & 255:02x}"
            if not link.low.port:
                self.addHost(link.low.node, ip=f"{shape.address(link.low.node)}/{32 if routed else 8}")
            self.addLink(
                link.low.node, link.high.node, port1=link.low.port, port2=link.high.port,
                intfName1=link.low.interface, intfName2=link.high.interface,
                addr1=f"02:00:00:{tail}", addr2=f"02:01:00:{tail}",
                index=FIRST_INDEX + 2 * position, spec=spec, mtu=mtu, in_order=in_order,
            )  # fmt: skip


class Rack(Mininet):
    """A running rack. ``ports[i]`` is the switch port ``shape.ports[i]``."""

    def __init__(self, shape: Shape, links: Sequence[WallLink], link_layer: LinkLayer) -> None:
        self.shape, self.link_layer = shape, link_layer
        self.routed = len(shape.switches) > 1
        Mininet.inited = True  # its own preparation writes machine-wide sysctls
        mtu = link_layer.frame if link_layer.frame > ETHERNET_FRAME else ETHERNET_MTU
        numCores.ncores = 1  # or it asks a process; no host here has cores of its own
        super().__init__(
            topo=RackTopo(shape=shape, links=links, mtu=mtu, in_order=link_layer.in_order), host=RackHost,
            switch=RouterSwitch if self.routed else SWITCHES[link_layer.forwarding],
            link=RackLink, controller=None, waitConnected=False,
        )  # fmt: skip
        self.ends: dict[str, RackIntf] = {
            intf.name: intf for link in self.links for intf in (link.intf1, link.intf2) if intf.name != "e0"
        }
        self.tables = Tables(shape)
        self._losses: dict[Link, float] = {}  # that were set while it ran
        self.gates: list[PortGate] = []  # of ports that can be paused: between switches, and to slow hosts
        self.start()
        if self.routed:
            self._route()
        self._shape()
        self.ports: list[Port] = []
        self.queues: list[Port] = []  # all of them, where ports have several

    @property
    def largest_ifindex(self) -> int:
        """Of all interfaces; no two have the same."""
        return FIRST_INDEX + 2 * len(self.links) - 1

    def _route(self) -> None:
        for switch in self.switches:
            switch.route(self.shape, self.link_layer.seed)
        self._set_next_hops(self.tables.hops)
        for host in self.hosts:
            host.use_gateway()

    def _set_next_hops(self, hops: Hops) -> None:
        for switch, ways in hops.items():
            for edge, ports in ways.items():
                self[switch].set_next_hops(self.shape.prefix(edge), ports)

    def _tell_programs(self, hops: Hops) -> None:
        """Adaptive routing chooses among the next hops before Linux does."""
        if self.programs.route_fd is None:
            return
        number = {switch: place for place, switch in enumerate(self.shape.switches, start=1)}
        for switch, ways in hops.items():
            for edge, ports in ways.items():
                own = [self.ends[port.name].index for port in ports]
                self.programs.set_next_hops(number[switch], number[edge], own)

    @property
    def _limit(self) -> int:
        """Bytes that a shaper queues."""
        return 2 * max(self.link_layer.buffer, self.link_layer.pooled) + HEADROOM

    def _shape(self) -> None:
        limit = self._limit
        for link in self.links:
            spec: WallLink = link.spec
            frame = self.link_layer.frame
            low = spec.nominal.low
            gated = self.link_layer.pooled > 0 and (low.port > 0 or low.node in self.link_layer.slow)
            for end in (link.intf1, link.intf2):
                if spec.netem is None or (end is link.intf2 and not spec.nominal.low.port):
                    end.shape(spec.rate, frame, limit)
                else:
                    end.delay_and_shape(spec.rate, frame, limit, spec.netem)
                if end.name not in self.ends:
                    continue
                if self.link_layer.classes:
                    self._make_queues(end, limit, self.link_layer.classes, gated)
                elif gated:
                    two_classes(end, limit)
                    self.gates.append(PortGate(end, limit, [end.index]))
                elif self.link_layer.answers_first:
                    two_classes(end, limit)

    def _make_queues(self, port: RackIntf, limit: int, classes: Classes, gated: bool) -> None:
        interfaces, holders = self.largest_ifindex + 1, class_rows.holders(classes, self.link_layer.groups)
        rows = {
            queue: [class_rows.row_of(port.index, priority, interfaces) for priority in priorities]
            for queue, priorities in holders.items()
        }
        self.gates += several_queues(port, limit, classes, self.link_layer.frame, rows if gated else {})

    def attach(self, nic: NicPrograms, seed: int, monitor: int = 0) -> PortPrograms:
        """Put the programs in their places and switch the ports on. For ``monitor`` see `PortPrograms`."""
        self.nic = nic
        self.programs = ports = PortPrograms(nic, monitor, len(self.shape.switches))
        tcx = len(self.links) <= FEW_LINKS
        for link in self.links:
            if link.spec.nominal.low.port:
                for end in (link.intf1, link.intf2):
                    end.attach("ingress", ports.ingress_fd, "port_ingress", tcx=tcx)
                continue
            link.intf1.attach("ingress", nic.rx_fd, "nic_rx", tcx=tcx)
            if link.spec.netem is None:
                # The switch's end of the veth is where a packet has left the host's shaper: waiting in one's own
                # shaper is not the network's delay.
                link.intf2.attach("ingress", nic.tx_fd, "nic_tx", tcx=tcx)
            else:
                link.intf1.attach("egress", nic.tx_fd, "nic_tx", tcx=tcx)
        self.ports = list(self._ports())
        self._tell_programs(self.tables.hops)
        for place in self.shape.ports:
            self.ends[place.name].attach("egress", ports.fd, "port_egress", tcx=tcx)
            if ports.route_fd is not None:
                self.ends[place.name].attach("ingress", ports.route_fd, "port_route", tcx=tcx)
            if ports.src_fd is not None:
                self.ends[place.name].attach("ingress", ports.src_fd, "port_src", first=True, tcx=tcx)
        ports.configure(self.ports, seed)
        if nic.classes and nic.memory:
            interfaces = self.largest_ifindex + 1
            nic.share_memory(pool_rows(nic.memory, nic.classes, self.ports, interfaces, self.link_layer.headroom))
        if nic.classes:
            self.queues = class_rows.queue_ports(self.ports, nic.classes, self.largest_ifindex + 1)
            ports.configure(self.queues, seed)
            class_rows.set_own_red(ports, self.queues, nic.classes)
        return ports

    def _ports(self) -> Iterator[Port]:
        frame = self.link_layer.frame
        for port in self.shape.ports:
            end = self.ends[port.name]
            spec: WallLink = end.link.spec
            delay = 0.0 if spec.netem is None or port.to_host else spec.netem
            yield Port(
                ifindex=end.index,
                node=self.shape.switches.index(port.switch) + 1 << 16 | port.number,
                rate=spec.rate,
                buffer=round(port.link.buffer),
                slack=burst(spec.rate, frame) + 2 * frame + round(delay * spec.rate / 8),
                loss=port.link.loss,
                peer=end.peer.index,
            )

    def link_down(self, name: str) -> None:
        """Take a link between switches down, by the name of one of its ports or by its ends: ``leaf1-spine2``.

        Packets on it or sent into it until `reroute` are lost, and counted as the model's loss. Raises KeyError
        if there is no such link.
        """
        self.tables.link_down(name)
        self._set_loss(self.shape.find(name), 1.0)

    def link_up(self, name: str) -> None:
        """Bring a link up again; until `reroute` no switch uses it."""
        self.tables.link_up(name)
        link = self.shape.find(name)
        self._set_loss(link, self._losses.get(link, link.loss))

    def set_loss(self, name: str, loss: float) -> None:
        """See `testbed.engines.changes.Rack`."""
        link = self.shape.find(name)
        self._losses[link] = loss
        if link not in self.tables.down:
            self._set_loss(link, loss)

    def set_rate(self, name: str, rate: float) -> None:
        """See `testbed.engines.changes.Rack`."""
        link = self.shape.find(name)
        for end in (link.low, link.high):
            self.set_port_rate(end.interface, rate)

    def set_port_rate(self, name: str, rate: float) -> None:
        """Let a switch's port serialise at another nominal rate (bit/s)."""
        link, frame, position = self.shape.find(name), self.link_layer.frame, self.shape.position[name]
        intf, port = self.ends[name], self.ports[position]
        wall = WallRate(intf.link.spec.rate * rate / link.rate)
        slack = port.slack + burst(wall, frame) - burst(port.rate, frame)
        intf.reshape(wall, frame, self._limit)
        self.ports[position] = port._replace(rate=wall, slack=slack)
        self.programs.set_rate(self.ports[position])

    def set_delay(self, name: str, delay: float) -> None:
        """Refused before: agents, or netem, are made for the delays that links have when they are built."""
        raise AssertionError(f"{name} cannot get a delay of {delay} s")

    def _set_loss(self, link: Link, loss: float) -> None:
        for end in (link.low, link.high):
            if end.port:
                self.programs.set_loss(self.ports[self.shape.position[end.interface]], loss)
            else:
                said = link in self._losses or loss == 1.0  # what the rack says of its links is of ports
                self.programs.set_host_loss(self._sees_departures(link), loss if said else 0.0)

    def _sees_departures(self, link: Link) -> int:
        """Of a host's link: the interface at which `nic_tx` is."""
        one = next(one for one in self.links if one.spec.nominal == link)
        return int((one.intf2 if one.spec.netem is None else one.intf1).index)

    def set_weights(self, classes: Classes) -> None:
        """See `testbed.engines.changes.Rack`."""
        for port in self.ends.values():
            set_weights(port, classes, self.link_layer.frame)

    def shares(self, of_groups: bool) -> NDArray[Any]:
        """See `testbed.engines.changes.Rack`."""
        return self.nic.groups["share"] if of_groups else self.nic.shares

    def row(self, port: int, number: int) -> int:
        """Of a queue or a group of a port."""
        return class_rows.row_of(self.ports[port].ifindex, number, self.largest_ifindex + 1)

    def reroute(self, names: Sequence[str]) -> None:
        """The switches detect the state of these links: those that have other shortest paths take them."""
        changed = self.tables.reroute(names)
        self._set_next_hops(changed)
        self._tell_programs(changed)

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
            waiting = [intf for intf in waiting if not intf.node.queues.is_running(intf.index)]
            if waiting and time.monotonic() > deadline:
                names = ", ".join(f"{intf.node.name}:{intf.name}" for intf in waiting[:5])
                raise TestbedError(f"{len(waiting)} interfaces did not come up in {ACTIVATION_SECONDS:g} s: {names}")
            if waiting:
                time.sleep(0.01)
