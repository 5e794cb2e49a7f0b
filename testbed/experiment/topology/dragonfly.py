"""`rack.kind: dragonfly`: groups of switches that are all linked, and links between all groups.

Kim, Dally, Scott, Abts: "Technology-Driven, Highly-Scalable Dragonfly Topology" (ISCA 2008), section 3: p hosts and h
global links at each of the a switches of a group, at most a h + 1 groups; balanced with a = 2 p = 2 h. Routing is
minimal: at most one link to the switch that has the global one, that, and one in the other group; or `valiant`.
"""

from __future__ import annotations

from itertools import combinations
from typing import Literal, Self

from pydantic import Field, model_validator

from testbed.experiment.block import Count, refuse
from testbed.experiment.topology.any_rack import Regular, Routed
from testbed.experiment.topology.links import LinkSettings, link_kind
from testbed.experiment.topology.shape import End, Shape, hosts_at

GLOBAL = 3  # a global link costs more than a way round by links of a group, so that no way has two of them


class Dragonfly(Regular, Routed):
    """Groups of switches s1, s2, ..., each linked to all others of its group and to some of other groups."""

    kind: Literal["dragonfly"] = Field(description="`dragonfly`")
    h: Count = Field(default=2, description="Links to other groups at each switch; 2 makes 72 hosts.")
    switches: Count | None = Field(default=None, description="Of a group; by default 2 h.")
    hosts_per_switch: Count | None = Field(default=None, description="Hosts at each; by default h.")
    groups: Count | None = Field(default=None, description="By default as many as can be linked.")
    local: LinkSettings = Field(default=LinkSettings(), description="The links within groups.")
    far: LinkSettings = Field(default=LinkSettings(), description="The links between groups.")

    @model_validator(mode="after")
    def _groups_are_linked(self) -> Self:
        if not 2 <= self._groups <= (most := self._switches * self.h + 1):
            refuse(
                "groups", f"must be from 2 to {most}: there are {self._switches} switches of {self.h} links in a group"
            )
        return self

    @property
    def _switches(self) -> int:
        return self.switches or 2 * self.h

    @property
    def _hosts(self) -> int:
        return self.hosts_per_switch or self.h

    @property
    def _groups(self) -> int:
        return self.groups or self._switches * self.h + 1

    def parts(self) -> tuple[int, int]:
        """All pairs in each group, and all pairs of groups."""
        within = self._groups * self._switches * (self._switches - 1) // 2
        return self._groups * self._switches, within + self._groups * (self._groups - 1) // 2

    @property
    def size(self) -> int:
        """All switches have the same number."""
        return self._groups * self._switches * self._hosts

    @property
    def shape(self) -> Shape:
        """The k-th global link of a group leads to the (k + 1)-th group after it."""
        link, local, far = link_kind("link", self.link), link_kind("local", self.local), link_kind("far", self.far)
        a, first = self._switches, self._hosts + self._switches  # the port that the first global link is at
        switches = [f"s{number}" for number in range(1, self._groups * a + 1)]
        links = hosts_at(switches, self._hosts, link)
        for group in range(self._groups):
            for one, other in combinations(range(a), 2):
                low, high = switches[group * a + one], switches[group * a + other]
                links.append(local.between(End(low, self._hosts + other), End(high, self._hosts + one + 1)))
        for one, other in combinations(range(self._groups), 2):
            ends = []
            for group, number in ((one, other - one - 1), (other, self._groups - (other - one) - 1)):
                switch, port = number % a, number // a
                ends.append(End(switches[group * a + switch], first + port))
            links.append(far.between(*ends)._replace(cost=GLOBAL))
        return Shape(self.kind, tuple(switches), tuple(links))
