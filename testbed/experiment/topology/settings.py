"""The `rack:` block of an experiment file. Its ``kind`` chooses the other keys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from testbed.experiment.block import ChosenBy, Count
from testbed.experiment.topology.any_rack import MOST_HOSTS, MOST_SWITCHES, Regular, Routed
from testbed.experiment.topology.clos import Clos
from testbed.experiment.topology.custom import Custom
from testbed.experiment.topology.dragonfly import Dragonfly
from testbed.experiment.topology.links import LinkSettings, link_kind
from testbed.experiment.topology.rails import RailOptimised
from testbed.experiment.topology.shape import Shape, dumbbell, star, two_level
from testbed.experiment.topology.torus import Torus


class Star(Regular):
    """One switch, s1, with all hosts."""

    kind: Literal["star"] = Field(default="star", description="`star`")
    hosts: Annotated[int, Field(strict=True, ge=2, le=MOST_HOSTS)] | None = Field(
        default=None, description="Hosts h1, h2, ...; by default as many as the traffic needs."
    )

    @property
    def size(self) -> int | None:
        """As asked."""
        return self.hosts

    @property
    def shape(self) -> Shape:
        """Of as many hosts as it says."""
        return star(self.hosts or 0, link_kind("link", self.link))


Edge = Annotated[int, Field(strict=True, ge=1, le=MOST_SWITCHES)]
Some = Annotated[int, Field(strict=True, ge=2, le=MOST_SWITCHES)]


class LeafSpine(Regular, Routed):
    """Leaves with hosts, and one link from every leaf to every spine. Hosts are numbered leaf by leaf."""

    kind: Literal["leaf-spine"] = Field(description="`leaf-spine`")
    leaves: Some = Field(default=2, description="Leaves leaf1, leaf2, ...")
    spines: Edge = Field(default=2, description="Spines spine1, spine2, ...")
    hosts_per_leaf: Count = Field(default=4, description="Hosts at each leaf.")
    uplink: LinkSettings = Field(default=LinkSettings(), description="The links between leaves and spines.")

    def parts(self) -> tuple[int, int]:
        """Each leaf is linked to each spine."""
        return self.leaves + self.spines, self.leaves * self.spines

    @property
    def size(self) -> int:
        """All leaves have the same number."""
        return self.leaves * self.hosts_per_leaf

    @property
    def shape(self) -> Shape:
        """A leaf's ports: its hosts, then the spines."""
        link, uplink = link_kind("link", self.link), link_kind("uplink", self.uplink)
        leaves, spines = _named("leaf", self.leaves), _named("spine", self.spines)
        return two_level(self.kind, leaves, spines, hosts=self.hosts_per_leaf, link=link, trunk=uplink)


class FatTree(Regular, Routed):
    """Two levels, non-blocking: the uplinks of a ToR carry together what its hosts can send."""

    kind: Literal["fat-tree"] = Field(description="`fat-tree`")
    tors: Some = Field(default=4, description="Top-of-rack switches tor1, tor2, ...")
    cores: Edge = Field(
        default=4,
        description="Core switches core1, core2, ..., each with a link to every ToR of the rate of "
        "`link` times hosts_per_tor / cores.",
    )
    hosts_per_tor: Count = Field(default=16, description="Hosts at each ToR.")

    def parts(self) -> tuple[int, int]:
        """Each ToR is linked to each core."""
        return self.tors + self.cores, self.tors * self.cores

    @property
    def size(self) -> int:
        """All ToRs have the same number."""
        return self.tors * self.hosts_per_tor

    @property
    def shape(self) -> Shape:
        """A ToR's ports: its hosts, then the cores."""
        link = link_kind("link", self.link)
        uplink = replace(link, kind="uplink", rate=link.rate * self.hosts_per_tor / self.cores)
        tors, cores = _named("tor", self.tors), _named("core", self.cores)
        return two_level(self.kind, tors, cores, hosts=self.hosts_per_tor, link=link, trunk=uplink)


class Dumbbell(Regular, Routed):
    """Two switches, s1 and s2, and one link between them."""

    kind: Literal["dumbbell"] = Field(description="`dumbbell`")
    left: Count = Field(default=4, description="Hosts at s1: h1, h2, ...")
    right: Count = Field(default=4, description="Hosts at s2; their numbers follow those of s1.")
    bottleneck: LinkSettings = Field(default=LinkSettings(), description="The link between the switches.")

    @property
    def size(self) -> int:
        """Both sides."""
        return self.left + self.right

    @property
    def shape(self) -> Shape:
        """The bottleneck is the last port of both."""
        return dumbbell(self.left, self.right, link_kind("link", self.link), link_kind("bottleneck", self.bottleneck))


def _named(kind: str, count: int) -> Sequence[str]:
    return [f"{kind}{number}" for number in range(1, count + 1)]


def _star_by_default(value: Any) -> Any:
    if value is None:
        return {"kind": "star"}
    return {"kind": "star", **value} if isinstance(value, dict) else value


Rack = Annotated[
    Star | LeafSpine | FatTree | Clos | Torus | Dragonfly | RailOptimised | Dumbbell | Custom,
    ChosenBy("kind"),
    BeforeValidator(_star_by_default),
]
