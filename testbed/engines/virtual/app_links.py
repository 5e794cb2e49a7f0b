"""The links of hosts with apps (app_links.c): a namespace for each, and the way between it and the world."""

from __future__ import annotations

import ctypes
import os
import select
import socket
import struct
import threading
from collections.abc import Sequence
from mmap import mmap
from pathlib import Path

import numpy as np
from pyroute2 import IPRoute
from pyroute2.ethtool import Ethtool

from testbed.agent.histogram import TimeHistogram
from testbed.agent.memory import Memory
from testbed.base import linux
from testbed.clock import Clock
from testbed.dataplane.shaper import shape
from testbed.engines.nodes import RackNode
from testbed.engines.virtual.structs import APP_LINK, POLLED, CAppLinks
from testbed.engines.virtual.wires import Wires
from testbed.engines.virtual.world import NEVER, World
from testbed.errors import TestbedError
from testbed.experiment.layout import Layout
from testbed.experiment.topology.shape import End
from testbed.results.record import Histogram, Lag

ETHERNET_FRAME, ETHERNET_HEADER = 1514, 14  # usual bytes of a frame
AT_ONCE = 1 << 16  # bytes that a host's TCP sends as one, and as a slot of its ring holds: more than any packet
HEAD = 128  # bytes before a frame in its slot, of the kernel
RING = 16 << 20  # bytes that may wait for the world: 256 of those
BLOCK = 1 << 16
MODERATION = 8e-6  # s between interrupts, with which NICs begin in Linux (lib/dim/net_dim.c, its default profile)
HANDED = 2048  # packets that may wait for a host
PACKET_HOLDS = 512  # bytes of struct packet that are no frame
QUEUED = 16 << 20  # bytes that wait at a host for its line, before it drops
GATEWAY = "169.254.0.1"  # the other end of whatever link, in racks that route
ONLINK = 4
SOL_PACKET, RX_RING, STATISTICS, VERSION, VNET_HEADER, IGNORE_OUTGOING, QDISC_BYPASS = 263, 5, 6, 10, 15, 23, 20
TPACKET_V2, ETH_P_ALL, SO_SNDBUFFORCE = 1, 0x0003, 32
OFFLOADED = ("tx-generic-segmentation", "tx-tcp-segmentation")  # the first one is the kernel's own, for all others
IPV6 = Path("/proc/sys/net/ipv6/conf")


class AppLinks:
    """Make it before other processes are forked that shall be in ``nodes``. Raises TestbedError."""

    def __init__(self, layout: Layout, wires: Wires, hosts: Sequence[str], clock: Clock) -> None:
        self.layout, self.wires, self.hosts, self.clock = layout, wires, hosts, clock
        _, self._others = linux.own_core()  # cores that are not the world's
        self.frame = max(layout.framing.wire_size, ETHERNET_FRAME)
        self.waiting, self.late = TimeHistogram(4), TimeHistogram(4)  # on their way in, and out
        self.dropped = 0
        try:
            self._own = linux.new_netns()
            self._netns = {host: linux.new_netns() for host in hosts}
            self._sockets = [self._link(host) for host in hosts]
        except OSError as error:
            raise TestbedError(f"apps: hosts cannot have a network of their own: {error}; run it with sudo") from None

    @property
    def nodes(self) -> list[RackNode]:
        """The hosts."""
        return [RackNode(host, self.layout.shape.address(host), self._netns[host]) for host in self.hosts]

    def join(self, world: World) -> None:
        """From now on their packets are the world's."""
        slot, handed = AT_ONCE, 1 << (self.frame + HEAD - 1).bit_length()
        self._memory, self._world = Memory(), world  # of what C points into
        keep = self._memory.keep
        link_of = np.full(len(self.layout.shape.hosts), -1)
        links = np.zeros(len(self.hosts), APP_LINK)
        self._rings = [_ring(one, slot) for one in self._sockets]
        for number, (host, one, ring) in enumerate(zip(self.hosts, self._sockets, self._rings, strict=True)):
            link_of[self.wires.host[host]] = number
            address = np.frombuffer(ring, np.uint8).ctypes.data
            links[["host", "socket", "ring"]][number] = (self.wires.host[host], one.fileno(), address)
            links["handed"][number] = keep(np.zeros(HANDED * handed, np.uint8))
        links["interrupt"] = NEVER
        polled = np.zeros(len(links) + 1, POLLED)
        polled["file"][:-1], polled["events"] = links["socket"], select.POLLIN
        self.c = CAppLinks(
            keep(links), len(links), keep(link_of), RING // slot, slot, keep(polled),
            HANDED, handed, round(MODERATION / world.clock.seconds_per_ns), NEVER, 0, 0, 0, 0,
            *map(self._memory.histogram, (self.waiting, self.late)),
        )  # fmt: skip
        world.keep(self)
        world.c.apps, world.c.whole_size = ctypes.addressof(self.c), PACKET_HOLDS + self.frame
        world.c.entries = 1

    @property
    def lookahead(self) -> float:
        """By which the world may be ahead (s): no packet that an app sends comes to a switch before that."""
        link_of = self.layout.shape.link_of
        return min(link_of[host].delay for host in self.hosts)

    @property
    def rtt(self) -> float:
        """The base RTT of TCP that sends a lot (s): at either end a packet waits half of the NIC's moderation."""
        return self.layout.longest_rtt + MODERATION

    def relay(self, until: int) -> None:
        """Let apps talk to each other without the world, until that file can be read, or for a second."""
        self._world.code.relay(self._world.address, until)

    def begin(self) -> None:
        """From now on another core, where there is one, gives to hosts what has arrived for them."""
        self.c.aside = 1
        self._delivery = threading.Thread(target=self._deliver, daemon=True)
        self._delivery.start()

    def end(self) -> None:
        """What has arrived until now they get at once."""
        self._world.code.end_delivery(ctypes.byref(self.c))
        self._delivery.join()

    def _deliver(self) -> None:
        os.sched_setaffinity(0, self._others)
        self._world.code.deliver_aside(ctypes.byref(self.c), self._world.c.wall)

    def window_begins(self) -> None:
        """What waited until now does not count."""
        for one in (self.waiting, self.late):
            one.counts[:], one.top[:] = 0, 0

    @property
    def lag(self) -> Lag:
        """What packets of apps lost on their way between host and world."""
        counts, top = self.waiting.counts + self.late.counts, max(self.waiting.top[0], self.late.top[0])
        return Lag(Histogram(self.waiting.edges, counts), float(top))

    def drops(self) -> int:
        """Packets that found no room on their way between host and world."""
        for one in self._sockets:  # which forgets them when it has told them
            self.dropped += struct.unpack("II", one.getsockopt(SOL_PACKET, STATISTICS, 8))[1]
        return self.dropped + int(self.c.refused)

    def _link(self, host: str) -> socket.socket:
        """Its veth: e0 in its namespace, of which the other end is a socket of this process."""
        netns, link, routed = self._netns[host], self.layout.shape.link_of[host], len(self.wires.switch) > 1
        mtu = self.frame if self.frame > ETHERNET_FRAME else ETHERNET_FRAME - ETHERNET_HEADER
        with linux.inside(netns), IPRoute() as netlink:
            netlink.link(
                "add", ifname="e0", kind="veth", address=_shown(self.wires.mac(link.low)), mtu=mtu,
                peer={"ifname": host, "net_ns_fd": self._own, "mtu": mtu},
            )  # fmt: skip
            index = netlink.link_lookup(ifname="e0")[0]
            _silence("e0")
            _segment_tcp_alone("e0")
            netlink.link("set", index=index, gso_max_size=AT_ONCE - HEAD, state="up")
            netlink.link("set", index=1, state="up")
            address, prefix = self.layout.shape.address(host), 32 if routed else 8
            netlink.addr("add", index=index, address=address, prefixlen=prefix)
            shape(netlink, index, self.clock.wall_rate(link.rate), AT_ONCE, QUEUED)
            for ip, end in self._neighbours(host, routed):
                netlink.neigh("add", dst=ip, lladdr=_shown(self.wires.mac(end)), ifindex=index, state="permanent")
            if routed:
                netlink.route("add", dst="default", gateway=GATEWAY, oif=index, flags=ONLINK)
        with linux.inside(self._own), IPRoute() as netlink:
            _silence(host)
            netlink.link("set", index=netlink.link_lookup(ifname=host)[0], state="up")
            opened = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
            opened.bind((host, ETH_P_ALL))
        return opened

    def _neighbours(self, host: str, routed: bool) -> list[tuple[str, End]]:
        """Of all addresses that it may ask for, so that nobody asks."""
        shape = self.layout.shape
        if routed:
            return [(GATEWAY, shape.link_of[host].high)]
        return [(shape.address(one), shape.link_of[one].low) for one in shape.hosts if one != host]


def _ring(opened: socket.socket, slot: int) -> mmap:
    """What comes to the socket, for this process to read."""
    block = max(BLOCK, slot)
    for option, value in ((VERSION, TPACKET_V2), (VNET_HEADER, 1), (IGNORE_OUTGOING, 1), (QDISC_BYPASS, 1)):
        opened.setsockopt(SOL_PACKET, option, value)
    opened.setsockopt(socket.SOL_SOCKET, SO_SNDBUFFORCE, RING)
    opened.setsockopt(SOL_PACKET, RX_RING, struct.pack("IIII", block, RING // block, slot, RING // slot))
    return mmap(opened.fileno(), RING)


def _shown(mac: bytes) -> str:
    return mac.hex(":")


def _silence(interface: str) -> None:
    """No IPv6 there: no router solicitations or listener reports among the measured packets. Before it is up."""
    if (IPV6 / interface).exists():
        (IPV6 / interface / "disable_ipv6").write_text("1")


def _segment_tcp_alone(interface: str) -> None:
    """Our NIC does what most do (offload.c): whatever else the kernel has for one, it does itself."""
    with Ethtool() as ethtool:
        features = ethtool.get_features(interface)
        for name, feature in features.features.items():
            if name.endswith(("-segmentation", "-list", "-sctp")) and name not in OFFLOADED:
                feature.enable = False
        ethtool.set_features(interface, features)
