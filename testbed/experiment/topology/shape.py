"""The shape of a rack: hosts, switches, and the links between them, in nominal units. No kernel, no Mininet.

Names: hosts are h1, h2, ... with one interface e0; port 3 of switch leaf1 is leaf1-eth3. Ports are listed switch by
switch, in the order of their numbers: that is the order of all port columns.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

LONGEST_NAME = 15  # of an interface in Linux


class End(NamedTuple):
    """One end of a link: a host (port 0), or port 1, 2, ... of a switch."""

    node: str
    port: int

    @property
    def interface(self) -> str:
        """Its name in Linux."""
        return f"{self.node}-eth{self.port}" if self.port else "e0"


class Link(NamedTuple):
    """Two ends and the link between them. ``low`` is the host, or the switch nearer to hosts."""

    low: End
    high: End
    kind: str  # "link", "uplink", "bottleneck": the key of its settings
    rate: float  # bit/s, both directions
    delay: float  # s, one way
    loss: float = 0.0  # probability, at each switch port
    buffer: float = math.inf  # bytes, of each of its switch ports
    cost: int = 1  # of the ways that lead over it: packets take the cheapest

    def __str__(self) -> str:
        return f"{self.low.interface if self.low.port else self.low.node} - {self.high.interface}"


class SwitchPort(NamedTuple):
    """A port of a switch, and the link that it leads to."""

    switch: str
    number: int
    link: Link
    peer: End

    @property
    def name(self) -> str:
        """Such as leaf1-eth3."""
        return f"{self.switch}-eth{self.number}"

    @property
    def neighbour(self) -> str:
        """The node at the other end."""
        return self.peer.node

    @property
    def to_host(self) -> bool:
        """Whether a host is at the other end."""
        return self.peer.port == 0


@dataclass(frozen=True)
class Shape:
    """A rack. Hosts are numbered from 1 in the order of their links, which come first."""

    kind: str
    switches: tuple[str, ...]
    links: tuple[Link, ...]
    aliases: Mapping[str, str] = field(default_factory=dict)  # what the file of a custom rack calls a node
    bonds: Mapping[str, tuple[str, ...]] = field(
        default_factory=dict
    )  # the NICs of a host that has a bond, itself first

    @cached_property
    def hosts(self) -> tuple[str, ...]:
        """Their names, h1 first."""
        return tuple(link.low.node for link in self.links if not link.low.port)

    @cached_property
    def ports(self) -> tuple[SwitchPort, ...]:
        """All switch ports, in the order of the port columns."""
        found: dict[str, list[SwitchPort]] = {switch: [] for switch in self.switches}
        for link in self.links:
            if link.low.port:
                found[link.low.node].append(SwitchPort(link.low.node, link.low.port, link, link.high))
            found[link.high.node].append(SwitchPort(link.high.node, link.high.port, link, link.low))
        return tuple(port for one in found.values() for port in sorted(one, key=lambda port: port.number))

    @cached_property
    def position(self) -> dict[str, int]:
        """Column of each port, by its name."""
        return {port.name: column for column, port in enumerate(self.ports)}

    @cached_property
    def link_of(self) -> dict[str, Link]:
        """The link of each host."""
        return {link.low.node: link for link in self.links if not link.low.port}

    @cached_property
    def home(self) -> dict[str, str]:
        """The host, as traffic knows it, that a NIC belongs to."""
        return {host: host for host in self.hosts} | {nic: host for host, nics in self.bonds.items() for nic in nics}

    @cached_property
    def towards(self) -> dict[str, int]:
        """Column of the port that leads to each host."""
        return {host: self.position[link.high.interface] for host, link in self.link_of.items()}

    def edge(self, host: str) -> str:
        """The switch that a host is at."""
        return self.link_of[host].high.node

    def port_of(self, host: str) -> SwitchPort:
        """The switch port that leads to a host."""
        return self.ports[self.towards[host]]

    def line_rate(self, host: str) -> float:
        """Of the host's NIC, bit/s."""
        return self.link_of[host].rate

    @property
    def largest_buffer(self) -> float:
        """Bytes, of all ports."""
        return max(link.buffer for link in self.links)

    @cached_property
    def trunks(self) -> tuple[Link, ...]:
        """The links between switches."""
        return tuple(link for link in self.links if link.low.port)

    def find(self, name: str) -> Link:
        """The link with a switch port of this name, or between two nodes: ``leaf1-eth3`` or ``leaf1-spine2``.

        Raises KeyError.
        """
        for link in self.links:
            nodes = link.low.node, link.high.node
            if name in {link.low.interface, link.high.interface, "-".join(nodes), "-".join(reversed(nodes))}:
                return link
        raise KeyError(name)

    def address(self, host: str) -> str:
        """IPv4: the first two bytes are the switch (10.0 in a star), the last two the host's number."""
        number = int(host[1:])
        first = self.prefix(self.edge(host)).split(".")[:2]
        return f"{'.'.join(first)}.{number >> 8}.{number & 255}"

    def prefix(self, edge: str) -> str:
        """Of the addresses of all hosts at a switch, 16 bits."""
        high, low = divmod(self._number[edge], 256)
        return f"{10 + high}.{low}.0.0"

    @cached_property
    def _number(self) -> dict[str, int]:
        return {name: number for number, name in enumerate(self.switches, start=len(self.switches) > 1)}


@dataclass(frozen=True)
class LinkKind:
    """Rate, delay, loss and buffers of a kind of link."""

    kind: str
    rate: float
    delay: float
    loss: float = 0.0
    buffer: float = math.inf

    def between(self, low: End, high: End) -> Link:
        """A link of this kind."""
        return Link(low, high, self.kind, self.rate, self.delay, self.loss, self.buffer)


def hosts_at(switches: Sequence[str], each: int, link: LinkKind, before: int = 0) -> list[Link]:
    """The links of so many hosts at each switch: they are numbered switch by switch, after those ``before``."""
    return [
        link.between(End(f"h{before + place * each + n}", 0), End(switch, n))
        for place, switch in enumerate(switches)
        for n in range(1, each + 1)
    ]


def star(hosts: int, link: LinkKind) -> Shape:
    """One switch; host hN is at port N."""
    return Shape("star", ("s1",), tuple(hosts_at(["s1"], hosts, link)))


def two_level(
    kind: str, lower: Sequence[str], upper: Sequence[str], *, hosts: int, link: LinkKind, trunk: LinkKind
) -> Shape:
    """``hosts`` hosts at each lower switch, and a link from each lower to each upper switch."""
    links = hosts_at(lower, hosts, link)
    for place, switch in enumerate(lower, start=1):
        links += [trunk.between(End(switch, hosts + n), End(far, place)) for n, far in enumerate(upper, start=1)]
    return Shape(kind, (*lower, *upper), tuple(links))


def dumbbell(left: int, right: int, link: LinkKind, bottleneck: LinkKind) -> Shape:
    """Hosts at s1, the others at s2, and one link between the two: the last port of each."""
    links = [*hosts_at(["s1"], left, link), *hosts_at(["s2"], right, link, before=left)]
    links.append(bottleneck.between(End("s1", left + 1), End("s2", right + 1)))
    return Shape("dumbbell", ("s1", "s2"), tuple(links))
