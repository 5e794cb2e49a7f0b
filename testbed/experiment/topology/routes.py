"""Routing: equal-cost shortest paths over the links that are up."""

from __future__ import annotations

from collections.abc import Collection
from functools import cache, cached_property

import numpy as np
from numpy.typing import NDArray

from testbed.base.arrays import Floats
from testbed.experiment.topology.shape import Link, Shape, SwitchPort

Bools = NDArray[np.bool_]
FAR = np.iinfo(np.int32).max // 2  # links to where no path leads


class Routes:
    """All next hops of a rack. ``down`` are links between switches that packets cannot take."""

    def __init__(self, shape: Shape, down: Collection[Link] = ()) -> None:
        self.shape = shape
        self._trunks: dict[str, list[SwitchPort]] = {switch: [] for switch in shape.switches}
        for port in shape.ports:
            if not port.to_host and port.link not in down:
                self._trunks[port.switch].append(port)
        self._switch = {switch: number for number, switch in enumerate(shape.switches)}
        self._edge = {edge: number for number, edge in enumerate(dict.fromkeys(map(shape.edge, shape.hosts)))}
        self._neighbours = [
            np.array([self._switch[port.neighbour] for port in ports], np.int64) for ports in self._trunks.values()
        ]
        # Per object, and gone with it: switches are asked for thousands of hosts and flows.
        self._ways = cache(self._towards)
        self._shares = cache(self._spread_between)

    @cached_property
    def _distances(self) -> NDArray[np.int32]:
        """Links from each switch to each one that has hosts, shape (switches, edges): as many steps as the longest."""
        linked = np.zeros((len(self._switch),) * 2, np.float32)
        for number, neighbours in enumerate(self._neighbours):
            linked[number, neighbours] = 1
        found = np.full((len(self._switch), len(self._edge)), FAR, np.int32)
        found[[self._switch[edge] for edge in self._edge], np.arange(len(self._edge))] = step = 0
        while (new := (linked @ (found == step).astype(np.float32) > 0) & (found == FAR)).any():
            step += 1
            found[new] = step
        return found

    def _nearer(self, switch: int) -> Bools:
        """Which of its links between switches are on a shortest path to each edge, shape (edges, links)."""
        there = self._distances[self._neighbours[switch]]
        return np.asarray((there == self._distances[switch] - 1) & (there < FAR)).T

    def _towards(self, switch: str) -> list[list[SwitchPort]]:
        """Its next hops to each edge; those to many are the same list."""
        nearer, ports = self._nearer(self._switch[switch]), self._trunks[switch]
        known: dict[bytes, list[SwitchPort]] = {}
        for leading in nearer:
            if (key := leading.tobytes()) not in known:
                known[key] = [ports[number] for number in np.flatnonzero(leading)]
        return [known[leading.tobytes()] for leading in nearer]

    def next_hops(self, switch: str, edge: str) -> list[SwitchPort]:
        """The ports of ``switch`` that lead to the hosts at ``edge`` on a shortest path; empty if none does."""
        return self._ways(switch)[self._edge[edge]]

    def distance(self, switch: str, edge: str) -> int | None:
        """Links between a switch and one with hosts; None if there is no path."""
        distance = int(self._distances[self._switch[switch], self._edge[edge]])
        return distance if distance < FAR else None

    @property
    def most_hops(self) -> int:
        """Switches on the longest path between two hosts."""
        return 1 + int(self._distances[[self._switch[edge] for edge in self._edge]].max())

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
        """s on the first of the shortest paths from each switch to each edge, in the shape of `_distances`."""
        delays, beyond = np.zeros(self._distances.shape), np.zeros(self._distances.shape, np.int64)
        for number, ports in enumerate(self._trunks.values()):
            if ports:
                first = self._nearer(number).argmax(axis=1)
                delays[number] = np.array([port.link.delay for port in ports])[first]
                beyond[number] = self._neighbours[number][first]
        delays[self._distances == 0] = 0.0
        for step in range(2, 1 + int(self._distances.max(initial=0, where=self._distances < FAR))):
            switch, edge = np.nonzero(self._distances == step)
            delays[switch, edge] += delays[beyond[switch, edge], edge]
        return delays

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
