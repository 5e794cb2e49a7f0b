"""`rack.kind: torus`: a grid of switches in any number of dimensions, whose rows are rings."""

from __future__ import annotations

from itertools import product
from math import prod
from typing import Annotated, Literal

from pydantic import Field

from testbed.experiment.block import Count
from testbed.experiment.topology.any_rack import Regular, Routed
from testbed.experiment.topology.links import LinkSettings, link_kind
from testbed.experiment.topology.shape import End, Shape, hosts_at

Length = Annotated[int, Field(strict=True, ge=2)]


class Torus(Regular, Routed):
    """Switches s1, s2, ... in the order of their coordinates, the last counting first.

    Packets go the shortest way in each dimension, in any order of them, by ECMP.
    """

    kind: Literal["torus"] = Field(description="`torus`")
    dimensions: Annotated[list[Length], Field(min_length=1, max_length=6)] = Field(
        default=[4, 4], description="Switches along each dimension; of two there is one link between them, not a ring."
    )
    hosts_per_switch: Count = Field(default=1, description="Hosts at each switch.")
    trunk: LinkSettings = Field(default=LinkSettings(), description="The links between switches.")

    def parts(self) -> tuple[int, int]:
        """A link to the next in each dimension."""
        switches = prod(self.dimensions)
        return switches, sum(switches // (1 + (length == 2)) for length in self.dimensions)

    @property
    def size(self) -> int:
        """All switches have the same number."""
        return prod(self.dimensions) * self.hosts_per_switch

    @property
    def shape(self) -> Shape:
        """A switch's ports: its hosts, then for each dimension the next switch and the one before."""
        link, trunk = link_kind("link", self.link), link_kind("trunk", self.trunk)
        places = {place: f"s{number}" for number, place in enumerate(product(*map(range, self.dimensions)), start=1)}
        links = hosts_at([*places.values()], self.hosts_per_switch, link)
        for place, switch in places.items():
            for axis, length in enumerate(self.dimensions):
                if length == 2 and place[axis]:
                    continue  # it is there already, from the other end
                further = (*place[:axis], (place[axis] + 1) % length, *place[axis + 1 :])
                there = self.hosts_per_switch + 2 * axis + 1
                links.append(trunk.between(End(switch, there), End(places[further], there + (length > 2))))
        return Shape(self.kind, tuple(places.values()), tuple(links))
