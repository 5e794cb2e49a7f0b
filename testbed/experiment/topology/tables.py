"""The switches' routing tables, from the start and after links have failed or come back.

A switch takes all equal-cost shortest paths over the links that it knows to work. Where these have become longer, or
there is none, it keeps what it has: a spine must not send packets back up through another leaf. No other switch leads
packets there any more; what is on its way to a spine is lost at the link that is down, and counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from testbed.experiment.topology.routes import Routes
from testbed.experiment.topology.shape import Link, Shape, SwitchPort

Hops = dict[str, dict[str, list[SwitchPort]]]  # by a switch, and the one whose hosts packets are for


class Tables:
    """The tables of all switches. Links are named as in `Shape.find`."""

    def __init__(self, shape: Shape, intact: Routes | None = None) -> None:
        """``intact``: its routes while all links work, if they are known already."""
        self.shape = shape
        self.intact = intact or Routes(shape)
        self.down: set[Link] = set()
        self.known_down: set[Link] = set()  # those that the switches have detected
        self.edges = sorted({link.high.node for link in shape.link_of.values()})
        self.hops: Hops = {switch: self.intact.ways(switch) for switch in shape.switches}
        for edge in self.edges:
            del self.hops[edge][edge]

    def link_down(self, name: str) -> None:
        """The link fails; until `reroute` no switch knows. Raises KeyError if there is none."""
        self.down.add(self.shape.find(name))

    def link_up(self, name: str) -> None:
        """It is back; until `reroute` no switch uses it."""
        self.down.discard(self.shape.find(name))

    def reroute(self, names: Sequence[str]) -> Hops:
        """The switches detect the state of these links; returns the next hops that change: none for a host's."""
        detected = {link for link in map(self.shape.find, names) if link.low.port}
        self.known_down = (self.known_down - detected) | (detected & self.down)
        changed: Hops = {}
        for switch, ways in self.next_hops(Routes(self.shape, self.known_down)).items():
            if new := {edge: ports for edge, ports in ways.items() if ports != self.hops[switch][edge]}:
                changed[switch] = new
                self.hops[switch] |= new
        return changed

    def cut_off(self) -> list[tuple[str, str]]:
        """Switches with hosts between which no path is left that switches take, now that these links are down."""
        routes = Routes(self.shape, {link for link in self.down if link.low.port})
        pairs = combinations(self.edges, 2)
        return [pair for pair in pairs if routes.distance(*pair) != self.intact.distance(*pair)]

    def next_hops(self, routes: Routes) -> Hops:
        """The shortest paths that the switches accept: those that are no longer than without failures."""
        kept = {
            switch: [edge for edge in ways if routes.distance(switch, edge) == self.intact.distance(switch, edge)]
            for switch, ways in self.hops.items()
        }
        return {switch: {edge: routes.next_hops(switch, edge) for edge in edges} for switch, edges in kept.items()}
