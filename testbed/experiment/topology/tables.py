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

Hops = dict[tuple[str, str], list[SwitchPort]]  # by a switch and the one whose hosts packets are for


class Tables:
    """The tables of all switches. Links are named as in `Shape.find`."""

    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        self.intact = Routes(shape)
        self.down: set[Link] = set()
        self.known_down: set[Link] = set()  # those that the switches have detected
        self.edges = sorted({link.high.node for link in shape.link_of.values()})
        self.hops: Hops = {}
        for switch in shape.switches:
            ways = self.intact.ways(switch)
            self.hops |= {(switch, edge): ways[edge] for edge in self.edges if switch != edge}

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
        hops = self.next_hops(Routes(self.shape, self.known_down))
        changed = {pair: ports for pair, ports in hops.items() if ports != self.hops[pair]}
        self.hops |= changed
        return changed

    def cut_off(self) -> list[tuple[str, str]]:
        """Switches with hosts between which no path is left that switches take, now that these links are down."""
        routes = Routes(self.shape, {link for link in self.down if link.low.port})
        pairs = combinations(self.edges, 2)
        return [pair for pair in pairs if routes.distance(*pair) != self.intact.distance(*pair)]

    def next_hops(self, routes: Routes) -> Hops:
        """The shortest paths that the switches accept: those that are no longer than without failures."""
        kept = [pair for pair in self.hops if routes.distance(*pair) == self.intact.distance(*pair)]
        return {pair: routes.next_hops(*pair) for pair in kept}
