"""`rack.kind: clos`: three tiers, by default a k-ary fat tree.

Al-Fares, Loukissas, Vahdat: "A Scalable, Commodity Data Center Network Architecture" (SIGCOMM 2008), section 3.1: k
pods of k/2 edge and k/2 aggregation switches, (k/2)^2 cores, k/2 hosts at each edge switch; k^3/4 hosts, of which no
set of pairs blocks another.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Literal

from pydantic import Field

from testbed.experiment.block import Count, Part
from testbed.experiment.topology.any_rack import Regular, Routed
from testbed.experiment.topology.links import link_kind
from testbed.experiment.topology.shape import End, Link, LinkKind, Shape, hosts_at

Ratio = Annotated[float, Field(gt=0)]


class Oversubscription(Part):
    """By how much more could come from below than the links upwards carry; 1 is non-blocking."""

    tor: Ratio = Field(default=1.0, description="At ToRs: their hosts' lines over their uplinks.")
    pod: Ratio = Field(default=1.0, description="At aggregation switches: their ToRs' uplinks over the links to cores.")


class Clos(Regular, Routed):
    """Pods of ToRs and aggregation switches, and cores. Hosts are numbered ToR by ToR, pod by pod."""

    kind: Literal["clos"] = Field(description="`clos`")
    k: Annotated[int, Field(strict=True, ge=2, multiple_of=2)] = Field(
        default=4,
        description="A k-ary fat tree: k pods of k/2 ToRs and aggregation switches, k/2 hosts per ToR, (k/2)^2 cores. "
        "16 makes 1,024 hosts.",
    )
    pods: Count | None = Field(default=None, description="By default k.")
    tors: Count | None = Field(default=None, description="ToRs in a pod: tor1, tor2, ...; by default k/2.")
    aggs: Count | None = Field(
        default=None, description="Aggregation switches in a pod: agg1, agg2, ...; by default k/2."
    )
    cores: Count | None = Field(
        default=None, description="Core switches above each of these: core1, core2, ...; by default k/2."
    )
    hosts_per_tor: Count | None = Field(default=None, description="Hosts at each ToR; by default k/2.")
    parallel: Count = Field(default=1, description="Links between two switches that are linked.")
    oversubscription: Oversubscription = Field(
        default=Oversubscription(),
        description="Rates of links between switches follow from it, their delay and loss are those of `link`.",
    )

    def parts(self) -> tuple[int, int]:
        """Of all tiers."""
        tors, aggs = self._pods * self._tors, self._pods * self._aggs
        trunks = self.parallel * (tors * self._aggs + aggs * self._cores)
        return tors + aggs + self._aggs * self._cores, trunks

    @property
    def _pods(self) -> int:
        return self.pods or self.k

    @property
    def _tors(self) -> int:
        return self.tors or self.k // 2

    @property
    def _aggs(self) -> int:
        return self.aggs or self.k // 2

    @property
    def _cores(self) -> int:
        return self.cores or self.k // 2

    @property
    def _hosts(self) -> int:
        return self.hosts_per_tor or self.k // 2

    @property
    def size(self) -> int:
        """All ToRs have the same number."""
        return self._pods * self._tors * self._hosts

    @property
    def shape(self) -> Shape:
        """Tier by tier; a core's port is the pod's number where links are not parallel."""
        link = link_kind("link", self.link)
        up = link.rate * self._hosts / (self._aggs * self.parallel * self.oversubscription.tor)
        high = up * self._tors / (self._cores * self.oversubscription.pod)
        uplink, core_link = replace(link, kind="uplink", rate=up), replace(link, kind="core link", rate=high)
        tors, aggs = self._pods * self._tors, self._pods * self._aggs
        links = hosts_at([f"tor{number}" for number in range(1, tors + 1)], self._hosts, link)
        for tor in range(tors):
            pod, place = divmod(tor, self._tors)
            for agg in range(self._aggs):
                low, high_end = (f"tor{tor + 1}", self._hosts + agg * self.parallel), f"agg{pod * self._aggs + agg + 1}"
                links += self._cable(uplink, *low, high_end, place * self.parallel)
        for agg in range(aggs):
            pod, plane = divmod(agg, self._aggs)
            for core in range(self._cores):
                low = (f"agg{agg + 1}", (self._tors + core) * self.parallel)
                links += self._cable(core_link, *low, f"core{plane * self._cores + core + 1}", pod * self.parallel)
        names = (("tor", tors), ("agg", aggs), ("core", self._aggs * self._cores))
        switches = [f"{tier}{number}" for tier, count in names for number in range(1, count + 1)]
        return Shape(self.kind, tuple(switches), tuple(links))

    def _cable(self, kind: LinkKind, low: str, below: int, high: str, above: int) -> list[Link]:
        """The parallel links between two switches, at the ports that follow these."""
        return [kind.between(End(low, below + n), End(high, above + n)) for n in range(1, self.parallel + 1)]
