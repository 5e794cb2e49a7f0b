"""From the shape of a rack to the event loop's lines, tables and addresses."""

from __future__ import annotations

import socket
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from testbed.agent.sockets import PORTS
from testbed.base.arrays import Ints
from testbed.base.pages import LargePages
from testbed.clock import Clock, WallRate
from testbed.dataplane.port_maps import Port
from testbed.dataplane.wire import FIRST_PORT, ROCE_PORT
from testbed.engines.virtual.structs import HEAD_BYTES, LINE, TICK_SHIFT
from testbed.experiment.layout import Layout
from testbed.experiment.topology.shape import End, Shape, SwitchPort
from testbed.experiment.topology.tables import Hops

FIRST_INDEX = 64  # of interfaces, as in the kernel's rack: RED draws by it
HASH_SEEDS = 2**32 - 1
ETH_P_IP, IPPROTO_UDP = 0x0800, 17
ETHERNET_SIZE, IPV4_SIZE, UDP_SIZE = 14, 20, 8
HEAD = np.dtype(
    [
        ("target", "u1", 6), ("source", "u1", 6), ("ethertype", ">u2"),
        ("version", "u1"), ("tos", "u1"), ("length", ">u2"), ("id", ">u2"), ("fragment", ">u2"), ("ttl", "u1"),
        ("protocol", "u1"), ("checksum", ">u2"), ("src", "u1", 4), ("dst", "u1", 4),
        ("src_port", ">u2"), ("dst_port", ">u2"), ("udp_length", ">u2"), ("udp_checksum", ">u2"),
    ]
)  # fmt: skip
assert HEAD.itemsize == HEAD_BYTES
DONT_FRAGMENT = 0x4000
TTL = 64
ANY_SLACK = 1 << 31


def per_byte(rate: WallRate) -> int:
    """Of a line of this rate."""
    return round(8e9 * (1 << TICK_SHIFT) / rate)


class Wires:
    """Lines are numbered 2i (from the low end of link i) and 2i + 1; interfaces FIRST_INDEX + the same."""

    def __init__(self, shape: Shape, clock: Clock, memory: LargePages) -> None:
        self.shape = shape
        self.switch = {name: number for number, name in enumerate(shape.switches)}
        self.host = {name: number for number, name in enumerate(shape.hosts)}
        self.index = {
            end: FIRST_INDEX + 2 * place + high
            for place, link in enumerate(shape.links)
            for high, end in enumerate((link.low, link.high))
        }
        self.interfaces = FIRST_INDEX + 2 * len(shape.links)
        self.lines = memory.zeros(2 * len(shape.links), LINE)
        here = np.arange(len(self.lines))
        there = here ^ 1
        node = np.array([self._node(end) for end in self.index])
        self.macs = np.zeros((len(here), 6), np.uint8)  # of interfaces, as in the kernel's rack
        self.macs[:, 0], self.macs[:, 1] = 2, here & 1
        self.macs[:, 3:] = (here // 2 + 1).astype(">u4").view(np.uint8).reshape(-1, 4)[:, 1:]
        lines = self.lines
        lines["per_byte"] = np.repeat([per_byte(clock.wall_rate(link.rate)) for link in shape.links], 2)
        lines["delay"] = np.repeat([clock.wall_ns(link.delay) for link in shape.links], 2)
        lines["from"], lines["to"] = FIRST_INDEX + here, FIRST_INDEX + there
        lines["sender"], lines["receiver"] = node, node[there]
        lines["macs"][:, :6], lines["macs"][:, 6:12] = self.macs[there], self.macs

    def _node(self, end: End) -> int:
        return self.switch[end.node] if end.port else -1 - self.host[end.node]

    def mac(self, end: End) -> bytes:
        """Of an interface."""
        return bytes(self.macs[self.index[end] - FIRST_INDEX])

    def out_of(self, port: SwitchPort) -> int:
        """The line that begins at a switch's port."""
        return self.index[End(port.switch, port.number)] - FIRST_INDEX

    def out(self) -> Ints:
        """By interface: the line that begins there."""
        return np.concatenate((np.full(FIRST_INDEX, -1), np.arange(len(self.lines)))).astype(np.int64)

    def ports(self, layout: Layout, clock: Clock, queued: bool) -> list[Port]:
        """As the programs see them.

        Where packets are ``queued`` for their line, a port's queue is held against what has left it: with priority flow
        control a frame that has begun goes on when the port is paused. Otherwise what left is not counted, and nothing
        but the rate drains the queue.
        """
        return [
            Port(
                ifindex=self.index[End(port.switch, port.number)],
                node=self.switch[port.switch] + 1 << 16 | port.number,
                rate=clock.wall_rate(port.link.rate),
                buffer=round(port.link.buffer),
                slack=layout.framing.wire_size if queued else ANY_SLACK,
                loss=port.link.loss,
                peer=self.index[port.peer],
            )
            for port in self.shape.ports
        ]

    def next_hops(self, hops: Hops) -> tuple[Ints, Ints]:
        """Where they begin, by [switch][edge switch]; and, one after the other, how many there are and the lines.

        The same ones are there once: a ToR's are its uplinks, wherever a packet goes.
        """
        switches = len(self.switch)
        at, flat = np.zeros((switches, switches), np.int64), [0]
        there: dict[int, int] = {}  # by the list's identity: see `Routes.next_hops`
        for switch, ways in hops.items():
            same = list(map(id, ways.values()))
            for one, ports in dict(zip(same, ways.values(), strict=True)).items():
                if one not in there:
                    there[one] = len(flat)
                    flat += [len(ports), *map(self.out_of, ports)]
            at[self.switch[switch], list(map(self.switch.__getitem__, ways))] = list(map(there.__getitem__, same))
        return at, np.array(flat, np.int64)

    def hash_seeds(self, seed: int) -> Ints:
        """Of ECMP, by switch; as in the kernel's rack."""
        return np.array([(seed * 2654435761 + number) % HASH_SEEDS + 1 for number in range(1, len(self.switch) + 1)])

    def hosts(self) -> tuple[Ints, Ints, Ints]:
        """By host: its line up, the line down to it, its switch."""
        links = [self.shape.link_of[name] for name in self.shape.hosts]
        up = np.array([self.index[link.low] - FIRST_INDEX for link in links])
        return up, up + 1, np.array([self.switch[link.high.node] for link in links])

    def host_interfaces(self) -> dict[str, int]:
        """Of each host's end of its link."""
        return {name: self.index[self.shape.link_of[name].low] for name in self.shape.hosts}

    @cached_property
    def _address(self) -> NDArray[np.uint8]:
        """By host: IPv4, its bytes."""
        packed = b"".join(socket.inet_aton(self.shape.address(name)) for name in self.host)
        return np.frombuffer(packed, np.uint8).reshape(-1, 4)

    def heads(self, src: Ints, dst: Ints, tos: Ints, flow: Ints, carried: int) -> NDArray[np.void]:
        """Ethernet, IPv4 and UDP of sockets' packets, which carry so many bytes behind them; hosts count from 1."""
        up, down, _ = self.hosts()
        own, gateway = self.macs[up], self.macs[down]
        found = np.zeros(len(src), HEAD)
        found["target"] = gateway[src - 1] if len(self.switch) > 1 else own[dst - 1]
        found["source"], found["ethertype"] = own[src - 1], ETH_P_IP
        found["version"], found["tos"], found["length"] = 0x45, tos, IPV4_SIZE + UDP_SIZE + carried
        found["fragment"], found["ttl"], found["protocol"] = DONT_FRAGMENT, TTL, IPPROTO_UDP
        found["src"], found["dst"] = self._address[src - 1], self._address[dst - 1]
        found["src_port"], found["dst_port"] = FIRST_PORT + flow % PORTS, ROCE_PORT
        found["udp_length"] = UDP_SIZE + carried
        header = found.view(np.uint8).reshape(-1, HEAD_BYTES)[:, ETHERNET_SIZE:][:, :IPV4_SIZE]
        total = np.ascontiguousarray(header).view(">u2").sum(axis=1, dtype=np.int64)
        total = (total & 0xFFFF) + (total >> 16)
        found["checksum"] = ~(total + (total >> 16)) & 0xFFFF
        return found
