"""Where packets can be captured: ``port:s1-eth65`` is a switch port, ``nic:h3`` is the interface of a host."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from testbed.errors import BadInput, nearest
from testbed.experiment.topology.shape import Shape


@dataclass(frozen=True)
class Point:
    """A switch port (``kind`` is "port") or a host ("nic"), by its name in the rack."""

    kind: str
    place: str

    @property
    def name(self) -> str:
        """As the user writes it."""
        return f"{self.kind}:{self.place}"

    @property
    def file(self) -> str:
        """Name of its file in the results folder."""
        return f"{self.name.replace(':', '-')}.pcapng"

    def rate(self, shape: Shape) -> float:
        """Of its link, in the shape's unit."""
        port = shape.ports[shape.position[self.place]] if self.kind == "port" else shape.port_of(self.place)
        return port.link.rate


def points(names: Sequence[str], shape: Shape) -> list[Point]:
    """The named points of a rack, each once. Raises BadInput with the names that exist."""
    nics = [Point("nic", host) for host in shape.hosts]
    there = {point.name: point for point in (*nics, *(Point("port", port.name) for port in shape.ports))}
    for name in names:
        if name not in there:
            hint = nearest(name, list(there)).partition("?")
            meant = f"{hint[0]}? " if hint[1] else ""
            raise BadInput(f"--pcap {name}: there is no such point; {meant}(there are {_ranges(shape)})")
    return [there[name] for name in dict.fromkeys(names)]


def _ranges(shape: Shape) -> str:
    per_switch: dict[str, list[str]] = {}
    for port in shape.ports:
        per_switch.setdefault(port.switch, []).append(port.name)
    ranges = [f"port:{names[0]} ... port:{names[-1]}" for names in per_switch.values()]
    return ", ".join(ranges) + f" and nic:h1 ... nic:h{len(shape.hosts)}"
