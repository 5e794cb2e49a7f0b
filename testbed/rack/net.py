"""Building a rack through Mininet's API: topology, hosts, links, shapers, programs.

A star: hosts h1 ... hN at switch s1. Everything here is wall-clock; the caller converts (`testbed.clock`).
"""

from __future__ import annotations

import time
from dataclasses import dataclass

from mininet.net import Mininet
from mininet.topo import Topo

from testbed.dataplane.programs import NicPrograms, Port, PortPrograms
from testbed.errors import TestbedError
from testbed.rack.host import RackHost
from testbed.rack.link import RackLink, burst
from testbed.rack.switch import SWITCHES

ACTIVATION_SECONDS = 5.0
HEADROOM = 1 << 20  # bytes that a shaper holds beyond the model's buffer: only the model may drop


@dataclass(frozen=True)
class Wire:
    """How links and ports behave, in wall-clock units."""

    rate: float  # bit/s
    frame: int  # bytes of a full frame
    buffer: int  # bytes of a switch port
    loss: float  # probability of a random drop per switch port; by its program, for netem's dice cannot be seeded
    netem_delay: float | None  # s that netem holds packets leaving a host; None where the agents' delay line does it
    forwarding: str = "bridge"  # a key of SWITCHES
    pooled: int = 0  # bytes that may wait at a switch port with priority flow control: what all ports have together


class Star(Topo):
    """``hosts`` hosts at one switch; host hN has address 10.x.y.z of its number and sits at port N."""

    def build(self, hosts: int, mtu: int) -> None:
        """Called by Mininet's Topo."""
        self.addSwitch("s1")
        for number in range(1, hosts + 1):
            ip = f"10.{number >> 16}.{number >> 8 & 255}.{number & 255}"
            mac = f"02:00:00:{number >> 16:02x}:{number >> 8 & 255:02x}:{number & 255:02x}"
            self.addHost(f"h{number}", ip=f"{ip}/8")
            self.addLink(
                f"h{number}", "s1", port1=0, port2=number, intfName1="e0", intfName2=f"s1-eth{number}",
                addr1=mac, addr2="02:01" + mac[5:], mtu=mtu,
            )  # fmt: skip


class Rack(Mininet):
    """A running rack. ``ports[i]`` is the switch port of host i + 1."""

    def __init__(self, hosts: int, wire: Wire) -> None:
        self.wire = wire
        Mininet.inited = True  # its own preparation writes machine-wide sysctls
        super().__init__(
            topo=Star(hosts=hosts, mtu=max(1500, wire.frame)), host=RackHost, switch=SWITCHES[wire.forwarding],
            link=RackLink, controller=None, waitConnected=False,
        )  # fmt: skip
        self.start()
        self._shape()
        self.ports: list[Port] = []

    def _shape(self) -> None:
        limit = 2 * max(self.wire.buffer, self.wire.pooled) + HEADROOM
        for link in self.links:
            link.intf2.shape(self.wire.rate, self.wire.frame, limit)
            if self.wire.netem_delay is None:
                link.intf1.shape(self.wire.rate, self.wire.frame, limit)
            else:
                link.intf1.delay_and_shape(self.wire.rate, self.wire.frame, limit, self.wire.netem_delay)

    def attach(self, nic: NicPrograms, seed: int) -> PortPrograms:
        """Put the programs in their places and switch the ports on."""
        ports = PortPrograms(max(link.intf2.index for link in self.links), nic)
        for number, link in enumerate(self.links, start=1):
            host_end, switch_end = link.intf1, link.intf2
            host_end.attach("ingress", nic.rx_fd, "nic_rx")
            if self.wire.netem_delay is None:
                # The far end of the veth is where a packet has left the host's shaper: waiting in one's own shaper
                # is not the network's delay.
                switch_end.attach("ingress", nic.tx_fd, "nic_tx")
            else:
                host_end.attach("egress", nic.tx_fd, "nic_tx")
            switch_end.attach("egress", ports.fd, "port_egress")
            port = Port(
                ifindex=switch_end.index,
                node=1 << 16 | number,
                rate=self.wire.rate,
                buffer=self.wire.buffer,
                slack=burst(self.wire.rate, self.wire.frame) + 2 * self.wire.frame,
                loss=self.wire.loss,
                peer=host_end.index,
            )
            ports.configure(port, seed)
            self.ports.append(port)
        return ports

    def connect(self, pairs: set[tuple[str, str]]) -> None:
        """Neighbour entries for hosts that will talk, so that no flow waits for ARP."""
        for src, dst in sorted(pairs):
            far = self[dst].defaultIntf()
            self[src].add_neighbour(far.IP(), far.MAC())

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
