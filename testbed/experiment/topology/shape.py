"""What a rack looks like: hosts, switches, and the cables between them. No kernel, no Mininet.

Names: hosts are h1, h2, ... with one interface e0; port 3 of switch leaf1 is leaf1-eth3. Ports are listed switch by
switch, in the order of their numbers: that is the order of all port columns.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

LONGEST_NAME = 15  # of an interface in Linux


@dataclass(frozen=True)
class End:
    """One end of a cable: a host (port 0), or port 1, 2, ... of a switch."""

    node: str
    port: int

    @property
    def interface(self) -> str:
        """Its name in Linux."""
        return f"{self.node}-eth{self.port}" if self.port else "e0"


@dataclass(frozen=True)
class Cable:
    """Two ends and what is between them. ``low`` is the host, or the switch nearer to hosts."""

    low: End
    high: End
    kind: str  # "link", "uplink", "bottleneck": the key of its settings
    rate: float  # bit/s, both directions
    delay: float  # s, one way
    loss: float = 0.0  # probability, at each switch port

    def __str__(self) -> str:
        return f"{self.low.interface if self.low.port else self.low.node} - {self.high.interface}"


@dataclass(frozen=True)
class SwitchPort:
    """One end of a cable, seen from its switch."""

    switch: str
    number: int
    cable: Cable
    far: End

    @property
    def name(self) -> str:
        """Such as leaf1-eth3."""
        return f"{self.switch}-eth{self.number}"

    @property
    def neighbour(self) -> str:
        """The node at the far end."""
        return self.far.node

    @property
    def to_host(self) -> bool:
        """Whether a host is at the far end."""
        return self.far.port == 0


@dataclass(frozen=True)
class Shape:
    """A rack. Hosts are numbered from 1 in the order of their cables, which come first."""

    kind: str
    switches: tuple[str, ...]
    cables: tuple[Cable, ...]

    @cached_property
    def hosts(self) -> tuple[str, ...]:
        """Their names, h1 first."""
        return tuple(cable.low.node for cable in self.cables if not cable.low.port)

    @cached_property
    def ports(self) -> tuple[SwitchPort, ...]:
        """All switch ports, in the order of the port columns."""
        found: dict[str, list[SwitchPort]] = {switch: [] for switch in self.switches}
        for cable in self.cables:
            if cable.low.port:
                found[cable.low.node].append(SwitchPort(cable.low.node, cable.low.port, cable, cable.high))
            found[cable.high.node].append(SwitchPort(cable.high.node, cable.high.port, cable, cable.low))
        return tuple(port for one in found.values() for port in sorted(one, key=lambda port: port.number))

    @cached_property
    def position(self) -> dict[str, int]:
        """Column of each port, by its name."""
        return {port.name: column for column, port in enumerate(self.ports)}

    @cached_property
    def cable_of(self) -> dict[str, Cable]:
        """The cable of each host."""
        return {cable.low.node: cable for cable in self.cables if not cable.low.port}

    def edge(self, host: str) -> str:
        """The switch that a host is at."""
        return self.cable_of[host].high.node

    def port_of(self, host: str) -> SwitchPort:
        """The switch port that leads to a host."""
        return self.ports[self.position[self.cable_of[host].high.interface]]

    def line_rate(self, host: str) -> float:
        """Of the host's NIC, bit/s."""
        return self.cable_of[host].rate

    @cached_property
    def trunks(self) -> tuple[Cable, ...]:
        """The cables between switches."""
        return tuple(cable for cable in self.cables if cable.low.port)

    def find(self, name: str) -> Cable:
        """The cable with a switch port of this name, or between two nodes: ``leaf1-eth3`` or ``leaf1-spine2``.

        Raises KeyError.
        """
        for cable in self.cables:
            nodes = cable.low.node, cable.high.node
            if name in {cable.low.interface, cable.high.interface, "-".join(nodes), "-".join(reversed(nodes))}:
                return cable
        raise KeyError(name)

    def address(self, host: str) -> str:
        """IPv4: the second byte tells the switch (0 in a star), the last two the host's number."""
        number = int(host[1:])
        first = self.prefix(self.edge(host)).split(".")[:2]
        return f"{'.'.join(first)}.{number >> 8}.{number & 255}"

    def prefix(self, edge: str) -> str:
        """Of the addresses of all hosts at a switch, 16 bits."""
        return f"10.{self.switches.index(edge) + 1 if len(self.switches) > 1 else 0}.0.0"

    def converted(self, rate: Callable[[float], float], delay: Callable[[float], float]) -> Shape:
        """The same with other units of rate and time: from nominal to wall time."""
        cables = tuple(replace(one, rate=rate(one.rate), delay=delay(one.delay)) for one in self.cables)
        return replace(self, cables=cables)


def star(hosts: int, rate: float, delay: float = 0.0, loss: float = 0.0) -> Shape:
    """One switch; host hN is at port N."""
    cables = [Cable(End(f"h{n}", 0), End("s1", n), "link", rate, delay, loss) for n in range(1, hosts + 1)]
    return Shape("star", ("s1",), tuple(cables))


@dataclass(frozen=True)
class Quality:
    """How good a kind of cable is."""

    kind: str
    rate: float
    delay: float
    loss: float = 0.0

    def between(self, low: End, high: End) -> Cable:
        """A cable like that."""
        return Cable(low, high, self.kind, self.rate, self.delay, self.loss)


def two_level(
    kind: str, lower: Sequence[str], upper: Sequence[str], *, hosts: int, link: Quality, trunk: Quality
) -> Shape:
    """``hosts`` hosts at each lower switch, and a cable from each lower to each upper switch."""
    cables = [
        link.between(End(f"h{place * hosts + n}", 0), End(switch, n))
        for place, switch in enumerate(lower)
        for n in range(1, hosts + 1)
    ]
    for place, switch in enumerate(lower, start=1):
        cables += [trunk.between(End(switch, hosts + n), End(far, place)) for n, far in enumerate(upper, start=1)]
    return Shape(kind, (*lower, *upper), tuple(cables))


def dumbbell(left: int, right: int, link: Quality, bottleneck: Quality) -> Shape:
    """Hosts at s1, the others at s2, and one cable between the two: the last port of each."""
    cables = [link.between(End(f"h{n}", 0), End("s1", n)) for n in range(1, left + 1)]
    cables += [link.between(End(f"h{left + n}", 0), End("s2", n)) for n in range(1, right + 1)]
    cables.append(bottleneck.between(End("s1", left + 1), End("s2", right + 1)))
    return Shape("dumbbell", ("s1", "s2"), tuple(cables))
