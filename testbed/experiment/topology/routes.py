"""Routing: the cheapest paths over the links that are up, which are the shortest unless links say what they cost."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import cache, cached_property

import numpy as np
from numpy.typing import NDArray

from testbed.base.arrays import Floats, Ints
from testbed.experiment.topology.shape import Link, Shape, SwitchPort

Bools = NDArray[np.bool_]
FAR = np.iinfo(np.int32).max // 2  # what a way costs where there is none


class Routes:
    """All next hops of a rack. ``down`` are links between switches that packets cannot take."""

    def __init__(self, shape: Shape, down: Collection[Link] = ()) -> None:
        self.shape = shape
        self._trunks: dict[str, list[SwitchPort]] = {switch: [] for switch in shape.switches}
        self._places: dict[str, list[int]] = {switch: [] for switch in shape.switches}  # among the shape's ports
        for place, port in enumerate(shape.ports):
            if not port.to_host and port.link not in down:
                self._trunks[port.switch].append(port)
                self._places[port.switch].append(place)
        self._switch = {switch: number for number, switch in enumerate(shape.switches)}
        self._edge = {edge: number for number, edge in enumerate(dict.fromkeys(map(shape.edge, shape.hosts)))}
        self._neighbours = [
            np.array([self._switch[port.neighbour] for port in ports], np.int64) for ports in self._trunks.values()
        ]
        self._costs = [
            np.array([port.link.cost for port in ports], np.int32).reshape(-1, 1) for ports in self._trunks.values()
        ]
        # Per object, and gone with it: switches are asked for thousands of hosts and flows.
        self._ways = cache(self._towards)
        self._shares = cache(self._spread_between)

    @cached_property
    def _distances(self) -> NDArray[np.int32]:
        """What the cheapest way costs from each switch to each one that has hosts, shape (switches, edges)."""
        found = np.full((len(self._switch), len(self._edge)), FAR, np.int32)
        found[[self._switch[edge] for edge in self._edge], np.arange(len(self._edge))] = 0
        while True:  # as many times as the longest way has links
            nearer = found.copy()
            for number, (neighbours, costs) in enumerate(zip(self._neighbours, self._costs, strict=True)):
                ways = found[neighbours] + costs
                np.minimum(found[number], ways.min(axis=0, initial=FAR), out=nearer[number])
            if (nearer == found).all():
                return found
            found = nearer

    def _nearer(self, switch: int) -> Bools:
        """Which of its links between switches are on a shortest path to each edge, shape (edges, links)."""
        there = self._distances[self._neighbours[switch]]
        return np.asarray((there + self._costs[switch] == self._distances[switch]) & (there < FAR)).T

    def _towards(self, switch: str) -> list[list[SwitchPort]]:
        """Its next hops to each edge; those to many are the same list."""
        nearer, ports = self._nearer(self._switch[switch]), self._trunks[switch]
        if not ports:
            return [[]] * len(nearer)
        packed = np.ascontiguousarray(np.packbits(nearer, axis=1))
        _, first, which = np.unique(packed.view(f"V{packed.shape[1]}").ravel(), return_index=True, return_inverse=True)
        known = [[ports[number] for number in np.flatnonzero(nearer[at]).tolist()] for at in first]
        return [known[number] for number in which.tolist()]

    def next_hops(self, switch: str, edge: str) -> list[SwitchPort]:
        """The ports of ``switch`` that lead to the hosts at ``edge`` on a shortest path; empty if none does."""
        return self._ways(switch)[self._edge[edge]]

    def ways(self, switch: str) -> dict[str, list[SwitchPort]]:
        """The same to each edge."""
        return dict(zip(self._edge, self._ways(switch), strict=True))

    def distance(self, switch: str, edge: str) -> int | None:
        """What the way costs between a switch and one with hosts: its links, as a rule. None if there is none."""
        distance = int(self._distances[self._switch[switch], self._edge[edge]])
        return distance if distance < FAR else None

    def hops(self, src: str, dst: str) -> int:
        """Switches on the way from one host to another."""
        edges = self.shape.edge(src), self.shape.edge(dst)
        return 1 + int(self._links[self._switch[edges[0]], self._edge[edges[1]]])

    @property
    def most_hops(self) -> int:
        """Switches on the longest way between two hosts."""
        return 1 + int(self._links[[self._switch[edge] for edge in self._edge]].max())

    @property
    def longest_delay(self) -> float:
        """Propagation from a host to the farthest other, s; of the hosts at a switch the last stands for all."""
        own = {link.high.node: link.delay for link in self.shape.link_of.values()}
        at_edge = np.array([own[edge] for edge in self._edge])
        if len(own) == 1:
            return 2 * float(at_edge[0])
        between = self._delays[[self._switch[edge] for edge in self._edge]] + at_edge[:, None] + at_edge
        return float(between[~np.eye(len(own), dtype=bool)].max())

    @cached_property
    def _delays(self) -> Floats:
        return self._along(np.array([port.link.delay for port in self.shape.ports]))

    @cached_property
    def _links(self) -> Floats:
        return self._along(np.ones(len(self.shape.ports)))

    @cached_property
    def _first(self) -> Ints:
        """Among the shape's ports, the first that leads to each edge, in the shape of `_distances`; or any."""
        found = np.zeros(self._distances.shape, np.int64)
        for number, places in enumerate(self._places.values()):
            if places:
                found[number] = np.array(places)[self._nearer(number).argmax(axis=1)]
        return found

    @cached_property
    def _beyond(self) -> Ints:
        """The switch that each of the shape's ports leads to; -1 where that is a host."""
        return np.array([-1 if port.to_host else self._switch[port.neighbour] for port in self.shape.ports])

    def _along(self, of_ports: Floats) -> Floats:
        """Sum of what a switch's ports have on the first of the ways to each edge, in the shape of `_distances`."""
        found, beyond = of_ports[self._first], self._beyond[self._first]
        found[(self._distances == 0) | (self._distances >= FAR)] = 0.0
        for distance in np.unique(self._distances):
            if 0 < distance < FAR:
                switch, edge = np.nonzero(self._distances == distance)
                found[switch, edge] += found[beyond[switch, edge], edge]
        return found

    def paths(self, pairs: Sequence[tuple[str, str]]) -> Iterator[tuple[Ints, list[Link]]]:
        """`path` of many pairs at once, link by link: which of them have another one, and these links."""
        shape, everybody = self.shape, np.arange(len(pairs))
        at, goal = (np.array([self._switch[shape.edge(pair[end])] for pair in pairs], np.int64) for end in (0, 1))
        edge = np.array([self._edge[shape.edge(dst)] for _, dst in pairs], np.int64)
        if (self._distances[at, edge] >= FAR).any():
            raise ValueError("there is no way between some of these hosts")
        yield everybody, [shape.link_of[src] for src, _ in pairs]
        while len(going := np.flatnonzero(at != goal)):
            ports = self._first[at[going], edge[going]]
            yield going, [shape.ports[port].link for port in ports.tolist()]
            at[going] = self._beyond[ports]
        yield everybody, [shape.link_of[dst] for _, dst in pairs]

    def path(self, src: str, dst: str) -> list[Link]:
        """The links from one host to another; of several paths, which are of equal length, the first."""
        at, edge = self.shape.edge(src), self.shape.edge(dst)
        links = [self.shape.link_of[src]]
        while at != edge:
            port = self.next_hops(at, edge)[0]
            links.append(port.link)
            at = port.neighbour
        return [*links, self.shape.link_of[dst]]

    def spread(self, src: str, dst: str) -> dict[str, float]:
        """Share of the packets from one host to another that each switch port carries, if ECMP spreads them evenly."""
        last = self.shape.port_of(dst)
        return {**self._shares(self.shape.edge(src), self.shape.edge(dst)), last.name: 1.0}

    def edges_of(self, numbers: Ints) -> Ints:
        """Of hosts by their numbers, from 1: the number of their switch among those that have hosts."""
        edge = np.array([self._edge[self.shape.edge(host)] for host in self.shape.hosts])
        return np.asarray(edge[numbers - 1])

    def carried(self, demand: Floats) -> Floats:
        """What each port between switches carries, in the order of `Shape.ports`, if ECMP spreads it evenly.

        ``demand`` is what the switches with hosts send each other, shape (edges, edges).
        """
        found, waiting = np.zeros(len(self.shape.ports)), np.zeros(self._distances.shape)
        waiting[[self._switch[edge] for edge in self._edge]] = demand
        distances = np.unique(self._distances)
        for distance in distances[(distances > 0) & (distances < FAR)][::-1]:  # what is passed on is nearer then
            due = (self._distances == distance) & (waiting > 0)
            for number in np.flatnonzero(due.any(axis=1)).tolist():
                edges = np.flatnonzero(due[number])
                ways = self._nearer(number)[edges]
                parts = ways * (waiting[number, edges] / ways.sum(axis=1))[:, None]
                found[self._places[self.shape.switches[number]]] += parts.sum(axis=0)
                np.add.at(waiting, (self._neighbours[number][:, None], edges), parts.T)
        return found

    def _spread_between(self, first: str, edge: str) -> dict[str, float]:
        shares: dict[str, float] = {}
        waiting = {first: 1.0}
        while waiting:
            following: dict[str, float] = {}
            for switch, share in waiting.items():
                hops = self.next_hops(switch, edge)
                for port in hops:
                    shares[port.name] = shares.get(port.name, 0.0) + share / len(hops)
                    following[port.neighbour] = following.get(port.neighbour, 0.0) + share / len(hops)
            waiting = {switch: share for switch, share in following.items() if switch != edge}
        return shares
