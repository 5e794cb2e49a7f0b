"""Where packets can be captured: ``port:s1-eth65`` is a switch port, ``nic:h3`` is the interface of a host."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from testbed.errors import BadInput, nearest

if TYPE_CHECKING:
    from testbed.rack.link import RackIntf
    from testbed.rack.net import Rack

PREFIX = {"port": "port:s1-eth", "nic": "nic:h"}


@dataclass(frozen=True)
class Point:
    """One end of the link of host ``number``: ``kind`` is a key of `PREFIX`."""

    kind: str
    number: int

    @property
    def name(self) -> str:
        """As the user writes it."""
        return f"{PREFIX[self.kind]}{self.number}"

    @property
    def file(self) -> str:
        """Name of its file in the results folder."""
        return f"{self.name.replace(':', '-')}.pcapng"

    def interface(self, rack: Rack) -> RackIntf:
        """The interface in a running rack."""
        link = rack.links[self.number - 1]
        found: RackIntf = link.intf2 if self.kind == "port" else link.intf1
        return found


def points(names: Sequence[str], hosts: int) -> list[Point]:
    """The named points of a rack with ``hosts`` hosts, each once. Raises BadInput that says what there is."""
    there = {point.name: point for kind in PREFIX for point in (Point(kind, n) for n in range(1, hosts + 1))}
    for name in names:
        if name not in there:
            ranges = " and ".join(f"{prefix}1 ... {prefix}{hosts}" for prefix in PREFIX.values())
            hint = nearest(name, list(there)).partition("?")
            meant = f"{hint[0]}? " if hint[1] else ""
            raise BadInput(f"--pcap {name}: there is no such point; {meant}(there are {ranges})")
    return [there[name] for name in dict.fromkeys(names)]
