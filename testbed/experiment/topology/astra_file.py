"""Racks from network files of ASTRA-sim's analytical backend (github.com/astra-sim/astra-sim, `examples/network`).

    topology: [ Ring, Switch ]
    npus_count: [ 4, 8 ]
    bandwidth: [ 80.0, 400.0 ]  # GB/s, of a link and direction
    latency: [ 1000.0, 936.25 ]  # ns, of a link

NPUs are a grid with as many dimensions: those that differ in one place alone are a ring, all linked, or at a switch.
With one switch they are its hosts. Otherwise an NPU is a host behind a switch of its own, which passes on what is for
others, as there; the link between the two has the rate of all links of the NPU, and no delay. A GB/s is 1e9 bytes.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from testbed.base.arrays import Ints
from testbed.errors import BadInput
from testbed.experiment.document import Document
from testbed.experiment.lines import Line
from testbed.experiment.topology.any_rack import MOST_HOSTS, MOST_TRUNKS
from testbed.experiment.topology.graph import Graph, GraphLink, GraphNode

KEYS = ("topology", "npus_count", "bandwidth", "latency")
KINDS = ("Ring", "FullyConnected", "Switch")
MOST_DIMENSIONS = 6
LEAST = {"npus_count": 1, "bandwidth": 1e-6, "latency": 0}
EXPECTED = f"a network file of ASTRA-sim: lists {', '.join(KEYS)}"


class Dimension(NamedTuple):
    """One entry of each list."""

    kind: str
    npus: int
    rate: float  # bit/s
    delay: float  # s

    @property
    def links(self) -> int:
        """Of an NPU."""
        ends = {"Ring": min(self.npus - 1, 2), "FullyConnected": self.npus - 1, "Switch": 1}
        return ends[self.kind] if self.npus > 1 else 0


def is_one(first: Line) -> bool:
    """Whether a file that begins so is one of these."""
    begin = "".join(first.words[:2]).replace('"', "").lstrip("{")
    return begin.startswith(tuple(f"{key}:[" for key in KEYS)) or "".join(first.words) == "{"


def read(file: Path) -> Graph:
    """Raises BadInput with the line."""
    document = Document.read(file, expected=EXPECTED)
    for key in document.data:
        if key not in KEYS:
            raise BadInput(f"{document.origin((key,))}: {key}: no such key; expected {EXPECTED}")
    dimensions = [Dimension(*one) for one in zip(*(_list(document, key) for key in KEYS), strict=True)]
    dimensions = [Dimension(kind, int(npus), rate * 8e9, delay * 1e-9) for kind, npus, rate, delay in dimensions]
    place, count = document.origin(("npus_count",)), prod(one.npus for one in dimensions)
    trunks = sum(one.links for one in dimensions) * count
    if not 2 <= count <= MOST_HOSTS or trunks > MOST_TRUNKS:
        possible = f"from 2 to {MOST_HOSTS:,} NPUs and up to {MOST_TRUNKS:,} links are possible"
        raise BadInput(f"{place}: npus_count: makes {count:,} NPUs with {trunks:,} links; {possible}")
    form = "a network of ASTRA-sim"
    hosts = [GraphNode(str(npu), place, "host") for npu in range(count)]
    if [one.kind for one in dimensions] == ["Switch"]:
        own = {"rate": dimensions[0].rate, "delay": dimensions[0].delay}
        links = [GraphLink((host.name, "s1"), place, own) for host in hosts]
        return Graph([*hosts, GraphNode("s1", place, "switch")], links, str(file), form)
    links = [link for number in range(len(dimensions)) for link in _linked(dimensions, number, place)]
    rate = sum(one.rate * one.links for one in dimensions)
    links = [GraphLink((host.name, f"n{host.name}"), place, {"rate": rate, "delay": 0.0}) for host in hosts] + links
    switches = dict.fromkeys(name for link in links for name in link.ends if not name.isdecimal())
    nodes = [*hosts, *(GraphNode(name, place, "switch") for name in switches)]
    return Graph(nodes, links, str(file), form, ("an NPU is a host behind a switch of its own",))


def _linked(dimensions: list[Dimension], number: int, place: str) -> Iterator[GraphLink]:
    """The links of one dimension."""
    one = dimensions[number]
    own = {"rate": one.rate, "delay": one.delay}
    npus = np.arange(prod(each.npus for each in dimensions))
    grid = npus.reshape([each.npus for each in reversed(dimensions)])  # the first dimension's are neighbours
    groups: Ints = np.moveaxis(grid, len(dimensions) - 1 - number, -1).reshape(-1, one.npus)
    for at, group in enumerate(groups.tolist() if one.npus > 1 else []):
        if one.kind == "Switch":
            pairs = [(f"n{npu}", f"d{number + 1}s{at + 1}") for npu in group]
        elif one.kind == "Ring":
            around = zip(group, [*group[1:], group[0]], strict=True)
            pairs = [(f"n{low}", f"n{high}") for low, high in list(around)[: one.npus if one.npus > 2 else 1]]
        else:
            pairs = [(f"n{low}", f"n{high}") for low, high in combinations(group, 2)]
        yield from (GraphLink(ends, place, own) for ends in pairs)


def _list(document: Document, key: str) -> list[Any]:
    """As many entries as the topology has dimensions."""
    values, kinds = document.data.get(key), document.data.get("topology")
    dimensions = len(kinds) if isinstance(kinds, list) else 1
    if not isinstance(values, list) or not 1 <= len(values) <= MOST_DIMENSIONS or len(values) != dimensions:
        got = f"{len(values)} of them" if isinstance(values, list) else "no list"
        as_many = f"{dimensions}, as topology has" if key != "topology" else f"1 to {MOST_DIMENSIONS}"
        raise BadInput(f"{document.origin((key,))}: {key}: expected a list of dimensions, {as_many}, got {got}")
    for value in values:
        if key == "topology" and value not in KINDS:
            raise BadInput(f"{document.origin((key,))}: {key}: '{value}' is none of {', '.join(KINDS)}")
        if key != "topology" and not (
            isinstance(value, int | float) and not isinstance(value, bool) and LEAST[key] <= value < 1e9
        ):
            raise BadInput(
                f"{document.origin((key,))}: {key}: expected a number of at least {LEAST[key]:g}, got '{value}'"
            )
    return values
