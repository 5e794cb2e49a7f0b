"""What the switches have in their routing tables, from the start and after links have failed or come back.

A switch takes all equal-cost shortest paths over the links that it knows to work. Where these have become longer, or
there is none, it keeps what it has: a spine must not send packets back up through another leaf. No other switch leads
packets there any more; what was on its way to a spine is lost at the link that is cut, and counted.
"""

from __future__ import annotations

from collections.abc import Sequence

from testbed.experiment.topology.routes import Routes
from testbed.experiment.topology.shape import Link, Shape, SwitchPort

Hops = dict[tuple[str, str], list[SwitchPort]]  # by a switch and the one whose hosts packets are for


class Tables:
    """Those of all switches. Links are named as in `Shape.find`."""

    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        self.whole = Routes(shape)
        self.dead: set[Link] = set()  # that are cut
        self.avoided: set[Link] = set()  # of which the switches know
        edges = sorted({link.high.node for link in shape.link_of.values()})
        pairs = [(switch, edge) for switch in shape.switches for edge in edges if switch != edge]
        self.hops: Hops = {pair: self.whole.next_hops(*pair) for pair in pairs}

    def cut(self, name: str) -> None:
        """The link fails; until `reroute` nobody knows. Raises KeyError if there is none between switches."""
        self.dead.add(self.trunk(name))

    def mend(self, name: str) -> None:
        """It is back; until `reroute` nobody uses it."""
        self.dead.discard(self.trunk(name))

    def trunk(self, name: str) -> Link:
        """A link between switches. Raises KeyError if there is none of this name."""
        link = self.shape.find(name)
        if not link.low.port:
            raise KeyError(name)
        return link

    def reroute(self, names: Sequence[str]) -> Hops:
        """The switches notice what has become of these links; what they change."""
        noticed = {self.trunk(name) for name in names}
        self.avoided = (self.avoided - noticed) | (noticed & self.dead)
        found = self.found(Routes(self.shape, self.avoided))
        changed = {pair: ports for pair, ports in found.items() if ports != self.hops[pair]}
        self.hops |= changed
        return changed

    def found(self, routes: Routes) -> Hops:
        """What the switches take of other shortest paths."""
        kept = [pair for pair in self.hops if routes.distance(*pair) == self.whole.distance(*pair)]
        return {pair: routes.next_hops(*pair) for pair in kept}
