"""A custom rack as its author drew it, nodes and links, and the shape that follows; or why none does.

A node with one link is a host, unless it says ``role: switch``. Hosts become h1, h2, ... in the order of the nodes; one
that says ``role: host`` and has several links has a NIC for each, and every NIC becomes a host of its own. If it says
``bond: true``, traffic knows one host; its other NICs have the numbers behind all hosts'.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any, Literal, NamedTuple, NoReturn

from testbed.errors import nearest
from testbed.experiment.topology.any_rack import MOST_HOSTS, MOST_SWITCHES
from testbed.experiment.topology.shape import LONGEST_NAME, End, Link, LinkKind, Shape

HOST = re.compile(r"h[1-9]\d*")
SWITCH = re.compile(r"[A-Za-z][A-Za-z0-9_.]*")

Role = Literal["", "host", "switch"]


class BadGraph(Exception):
    """What is wrong, and ``place``, where that was written."""

    def __init__(self, place: str, problem: str) -> None:
        super().__init__(problem)
        self.place = place


@dataclass(frozen=True)
class GraphNode:
    """A host or a switch; ``place`` is where it was written: a key of the experiment, or a file and a line."""

    name: str
    place: str
    role: Role = ""
    bond: bool = False  # its NICs are one for traffic


class GraphLink(NamedTuple):
    """Between two nodes. ``own`` settings are those of `Link`; what is missing is the default's."""

    ends: tuple[str, str]
    place: str
    own: Mapping[str, Any]


@dataclass(frozen=True)
class Graph:
    """Nodes and links in the order of the file; ``place`` is that of the whole."""

    nodes: Sequence[GraphNode]
    links: Sequence[GraphLink]
    place: str
    form: str = ""  # what the file was taken for
    notes: tuple[str, ...] = ()  # what of the file is not as it says

    @property
    def several(self) -> set[str]:
        """Hosts with several links."""
        ends = Counter(name for link in self.links for name in link.ends)
        return {one.name for one in self.nodes if one.role == "host" and not one.bond and ends[one.name] > 1}

    @property
    def bonded(self) -> list[str]:
        """Hosts whose NICs are one for traffic."""
        return [one.name for one in self.nodes if one.bond]

    @cached_property
    def shape(self) -> Callable[[LinkKind], Shape]:
        """As drawn, with links of this kind, where they do not say another. Made once. Raises BadGraph."""
        return cache(self._made)

    def _made(self, default: LinkKind) -> Shape:
        self._check_nodes()
        self._check_bonds(default)
        graph, bonds = self._of_single_nics()
        shape = graph._shape(default)
        ours = {theirs: ours for ours, theirs in shape.aliases.items()}
        named = [tuple(ours.get(name, name) for name in nics) for nics in bonds]
        return replace(shape, bonds={nics[0]: nics for nics in named})

    def _of_single_nics(self) -> tuple[Graph, list[list[str]]]:
        """Hosts with several links one by one, in the order of the links: `gpu` becomes `gpu:1` and `gpu:2`.

        A bonded one becomes `gpu` and, behind all others, `gpu:2`. Also returns the NICs of each bond.
        """
        several, bonded = self.several, set(self.bonded)
        if not several and not bonded:
            return self, []
        used: Counter[str] = Counter()

        def nic(name: str, number: int) -> str:
            return f"{name}:{number}" if name in several or number > 1 else name

        def own(name: str) -> str:
            used[name] += name in several or name in bonded
            return nic(name, used[name])

        links = [link._replace(ends=(own(link.ends[0]), own(link.ends[1]))) for link in self.links]
        nics = {one.name: [nic(one.name, n + 1) for n in range(used[one.name] or 1)] for one in self.nodes}
        of_hosts = [(one, nics[one.name][: 1 if one.bond else None]) for one in self.nodes]
        behind = [(one, nics[one.name][1:]) for one in self.nodes if one.bond]
        nodes = [
            replace(one, name=name, role="host" if one.bond else one.role)
            for one, names in [*of_hosts, *behind]
            for name in names
        ]
        return replace(self, nodes=nodes, links=links), [nics[name] for name in self.bonded]

    def _shape(self, default: LinkKind) -> Shape:
        ends = Counter(name for link in self.links for name in link.ends)
        roles = {one.name: one.role or ("host" if ends[one.name] == 1 else "switch") for one in self.nodes}
        self._check_links(roles, ends)
        names = _names(roles)
        used: Counter[str] = Counter()

        def end(name: str) -> End:
            if roles[name] == "host":
                return End(names[name], 0)
            used[name] += 1
            return End(names[name], used[name])

        @cache
        def kind(own: tuple[tuple[str, Any], ...]) -> LinkKind:
            return replace(default, **dict(own))

        def made(link: GraphLink, low: str, high: str) -> Link:
            return kind(tuple(link.own.items())).between(end(low), end(high))

        hosts = [name for name, role in roles.items() if role == "host"]
        link_of = {name: link for link in self.links for name in link.ends}
        made_links = [made(link_of[host], host, *(set(link_of[host].ends) - {host})) for host in hosts]
        ends_of_hosts = set(hosts)
        made_links += [made(link, *link.ends) for link in self.links if not set(link.ends) & ends_of_hosts]
        switches = tuple(names[name] for name, role in roles.items() if role == "switch")
        aliases = {ours: theirs for theirs, ours in names.items() if ours != theirs}
        shape = Shape("custom", switches, tuple(made_links), aliases)
        self._check_paths(shape)
        return shape

    def _check_nodes(self) -> None:
        places: dict[str, str] = {}
        for one in self.nodes:
            if one.name in places:
                raise BadGraph(one.place, f"the node '{one.name}' is there twice; first at {places[one.name]}")
            places[one.name] = one.place

    def _check_bonds(self, default: LinkKind) -> None:
        """The links of a bond are alike, as LACP demands."""
        for one in self.nodes:
            if not one.bond:
                continue
            links = [replace(default, **link.own) for link in self.links if one.name in link.ends]
            if one.role == "switch":
                self._refuse_node(one, "is a switch, which has no bond; leave one of the two out")
            if len(links) < 2:
                self._refuse_node(one, "has a bond, which needs two links or more")
            if len({(link.rate, link.delay) for link in links}) > 1:
                self._refuse_node(one, "has a bond of links whose rates or delays differ; they must be alike")

    def _check_links(self, roles: Mapping[str, str], ends: Mapping[str, int]) -> None:
        for link in self.links:
            for name in link.ends:
                if name not in roles:
                    raise BadGraph(link.place, f"no node is named '{name}'; {nearest(name, list(roles))}")
        for link in self.links:
            one, other = link.ends
            if one == other:
                raise BadGraph(link.place, f"a link needs two ends, but both are '{one}'")
            if roles[one] == roles[other] == "host":
                raise BadGraph(link.place, f"the hosts '{one}' and '{other}' have no switch between them")
        for node in self.nodes:
            if not ends[node.name]:
                self._refuse_node(node, "has no link")
        hosts = sum(role == "host" for role in roles.values())
        if not 2 <= hosts <= MOST_HOSTS:
            raise BadGraph(self.place, f"{hosts} hosts; from 2 to {MOST_HOSTS} are possible (nodes with one link)")
        if len(roles) - hosts > MOST_SWITCHES:
            raise BadGraph(self.place, f"{len(roles) - hosts} switches; at most {MOST_SWITCHES} are possible")

    @staticmethod
    def _refuse_node(node: GraphNode, problem: str) -> NoReturn:
        raise BadGraph(node.place, f"'{node.name}' {problem}")

    def _check_paths(self, shape: Shape) -> None:
        first, near = shape.hosts[0], defaultdict[str, set[str]](set)
        for (low, _), (high, _) in (link[:2] for link in shape.trunks):
            near[low].add(high)
            near[high].add(low)
        reached, new = set[str](), {shape.edge(first)}
        while new:
            reached |= new
            new = set().union(*(near[switch] for switch in new)) - reached
        for host in shape.hosts[1:]:
            if shape.edge(host) not in reached:
                one, other = (shape.aliases.get(name, name) for name in (first, host))
                raise BadGraph(self.place, f"no path leads from '{one}' to '{other}'")


def _names(roles: Mapping[str, str]) -> dict[str, str]:
    """Ours, by theirs: h1, h2, ... for hosts, and s1, s2, ... for switches whose name Linux could not use."""
    longest = LONGEST_NAME - len("-eth999")
    switches = [name for name, role in roles.items() if role == "switch"]
    kept = {name for name in switches if SWITCH.fullmatch(name) and len(name) <= longest and not HOST.fullmatch(name)}
    free = (name for name in (f"s{number}" for number in range(1, len(roles) + 1)) if name not in kept)
    named = {name: name if name in kept else next(free) for name in switches}
    hosts = [name for name, role in roles.items() if role == "host"]
    return named | {name: f"h{number}" for number, name in enumerate(hosts, start=1)}
