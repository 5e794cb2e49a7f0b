"""Racks from `.topo` files of htsim (github.com/Broadcom/csg-htsim, `sim/datacenter/topologies`): trees of two or
three tiers, by radix and tier.

    Nodes 32
    Tiers 2
    Podsize 32
    Tier 0
    Downlink_speed_Gbps 100
    Radix_Down 8
    ...

Node n is host h(n+1); ToRs are tor1, tor2, ..., aggregation switches agg1, ... and cores core1, ..., in htsim's order:
a core is linked to the same one of each pod. `Bundle` links go to each switch above.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from testbed.experiment.lines import Line, lines
from testbed.experiment.topology.any_rack import MOST_HOSTS, MOST_SWITCHES
from testbed.experiment.topology.graph import Graph, GraphLink, GraphNode

HEADER = ("nodes", "tiers", "podsize")
TIER = (
    "downlink_speed_gbps",
    "radix_down",
    "radix_up",
    "downlink_latency_ns",
    "switch_latency_ns",
    "oversubscribed",
    "bundle",
    "queue_up",
    "queue_down",
)
NAMES = ("tor", "agg", "core")


def is_one(first: Line) -> bool:
    """Whether a file that begins so is one of these."""
    return len(first.words) == 2 and first.words[0].lower() in HEADER


@dataclass(frozen=True)
class _Tier:
    """What is said of one tier, as numbers; ``place`` is where it begins."""

    place: Line
    said: dict[str, int]

    def get(self, key: str, default: int | None = None) -> int:
        value = self.said.get(key, default)
        if value is None:
            self.place.refuse(f"{key} in this tier")
        return value


def read(file: Path) -> Graph:
    """Raises ValueError with the line, or OSError."""
    header, tiers = _parsed(file)
    place = next(lines(file))
    for key in HEADER:
        if key not in header:
            place.refuse(f"a line '{key.capitalize()} N'")
    hosts, count, pod = (header[key] for key in HEADER)
    if count not in {2, 3} or len(tiers) != count:
        place.refuse(f"two or three tiers, each with its block 'Tier N' (Tiers {count}, {len(tiers)} blocks)")
    return _Tree(file, hosts, pod, tiers).graph()


def _parsed(file: Path) -> tuple[dict[str, int], list[_Tier]]:
    header: dict[str, int] = {}
    tiers: list[_Tier] = []
    for line in lines(file):
        key = line.words[0].lower()
        if len(line.words) != 2:
            line.refuse("a key and a number")
        if key == "tier":
            line.whole(1, "the number of the next tier", len(tiers), len(tiers))
            tiers.append(_Tier(line, {}))
        elif tiers and key in TIER:
            if key in tiers[-1].said:
                line.refuse(f"{key} once in a tier")
            tiers[-1].said[key] = line.whole(1, key, 0 if "latency" in key or "queue" in key else 1)
        elif not tiers and key in HEADER:
            header[key] = line.whole(1, key, 1, MOST_HOSTS)
        else:
            line.refuse(f"one of {', '.join(TIER if tiers else (*HEADER, 'tier'))}")
    return header, tiers


@dataclass(frozen=True)
class _Tree:
    file: Path
    hosts: int
    pod: int  # hosts
    tiers: list[_Tier]

    def graph(self) -> Graph:
        tors, aggs, cores = counts = self._counts()
        names = [f"{name}{n + 1}" for name, many in zip(NAMES, counts, strict=True) for n in range(many)]
        nodes = [GraphNode(str(n), str(self.file), "host") for n in range(self.hosts)]
        nodes += [GraphNode(name, str(self.file), "switch") for name in names]
        pods = self.hosts // self.pod
        links = [self._link(0, str(n), f"tor{n // (self.hosts // tors) + 1}") for n in range(self.hosts)]
        for tor in range(tors):
            first = tor // (tors // pods) * (aggs // pods)
            above = range(first, first + aggs // pods)
            links += self._bundle(1, f"tor{tor + 1}", [f"agg{agg + 1}" for agg in above])
        for agg in range(aggs if cores else 0):
            links += self._bundle(
                2, f"agg{agg + 1}", [f"core{n + 1}" for n in range(agg % (aggs // pods), cores, aggs // pods)]
            )
        return Graph(nodes, links, str(self.file), "a topology of htsim", tuple(self._notes()))

    def _counts(self) -> tuple[int, int, int]:
        """ToRs, aggregation switches and cores. Refuses what does not add up."""
        low, middle, *top = self.tiers
        if self.hosts % self.pod or self.pod % low.get("radix_down"):
            low.place.refuse(f"Nodes in whole pods, and a Podsize in whole ToRs ({self.hosts}, {self.pod})")
        pods, tors = self.hosts // self.pod, self.pod // low.get("radix_down")
        if not top and pods > 1:
            low.place.refuse(f"one pod of all nodes where there are two tiers, Podsize {self.hosts}")
        aggs = self._above(low, middle, tors)
        cores = self._above(middle, top[0], pods) * aggs if top else 0
        if pods * (tors + aggs) + cores > MOST_SWITCHES:
            low.place.refuse(f"at most {MOST_SWITCHES:,} switches ({pods * (tors + aggs) + cores:,})")
        return pods * tors, pods * aggs, cores

    @staticmethod
    def _above(low: _Tier, high: _Tier, below: int) -> int:
        """How many switches of a tier each one of the tier below is linked to; each of them has ``below`` ones."""
        bundle = high.get("bundle", 1)
        if low.get("radix_up") % bundle:
            low.place.refuse(f"a radix_up that is a multiple of the bundle above it, {bundle}")
        if high.get("radix_down") != below * bundle:
            high.place.refuse(f"radix_down {below * bundle}, for {below} switches below and bundles of {bundle}")
        return low.get("radix_up") // bundle

    def _bundle(self, tier: int, low: str, above: list[str]) -> list[GraphLink]:
        return [self._link(tier, low, high) for high in above for _ in range(self.tiers[tier].get("bundle", 1))]

    def _link(self, tier: int, low: str, high: str) -> GraphLink:
        return GraphLink((low, high), *self._alike[tier])

    @cached_property
    def _alike(self) -> list[tuple[str, dict[str, float]]]:
        """Of the links of each tier: where they are said, and their settings."""
        found = []
        for tier, about in enumerate(self.tiers):
            latency = about.get("downlink_latency_ns", 1000)
            beside = (self._half(tier - 1) if tier else 0.0) + self._half(tier)
            own = {"rate": about.get("downlink_speed_gbps") * 1e9, "delay": (latency + beside) * 1e-9}
            found.append((f"{self.file}, line {about.place.number}", own))
        return found

    def _half(self, tier: int) -> float:
        """Of the latency of a switch of that tier, ns: a packet comes by one link and goes by another."""
        return self.tiers[tier].get("switch_latency_ns", 0) / 2

    def _notes(self) -> list[str]:
        keys = {key for tier in self.tiers for key, value in tier.said.items() if value}
        notes = ["half of a switch's latency is in the delay of each of its links"] * ("switch_latency_ns" in keys)
        return notes + ["without its queue sizes; see rack.switch.buffer"] * bool(keys & {"queue_up", "queue_down"})
