"""Routing: equal-cost shortest paths over the links that are up."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection
from functools import cache

from testbed.experiment.topology.shape import Link, Shape, SwitchPort


class Routes:
    """All next hops of a rack. ``down`` are links between switches that packets cannot take."""

    def __init__(self, shape: Shape, down: Collection[Link] = ()) -> None:
        self.shape = shape
        self._trunks: dict[str, list[SwitchPort]] = {switch: [] for switch in shape.switches}
        for port in shape.ports:
            if not port.to_host and port.link not in down:
                self._trunks[port.switch].append(port)
        # Per object, and gone with it: switches are asked for thousands of hosts and flows.
        self._distances = cache(self._distances_to)
        self.next_hops = cache(self._shortest)
        self._shares = cache(self._spread_between)

    def _distances_to(self, edge: str) -> dict[str, int]:
        """Links from each switch to ``edge``; switches that cannot reach it are left out."""
        distance, waiting = {edge: 0}, deque([edge])
        while waiting:
            at = waiting.popleft()
            for port in self._trunks[at]:
                if port.neighbour not in distance:
                    distance[port.neighbour] = distance[at] + 1
                    waiting.append(port.neighbour)
        return distance

    def _shortest(self, switch: str, edge: str) -> list[SwitchPort]:
        """The ports of ``switch`` that lead to the hosts at ``edge`` on a shortest path; empty if none does."""
        distance = self._distances(edge)
        here = distance.get(switch)
        if here is None:
            return []
        return [port for port in self._trunks[switch] if distance.get(port.neighbour) == here - 1]

    def distance(self, switch: str, edge: str) -> int | None:
        """Links between two switches; None if there is no path."""
        return self._distances(edge).get(switch)

    @property
    def most_hops(self) -> int:
        """Switches on the longest path between two hosts."""
        edges = {link.high.node for link in self.shape.link_of.values()}
        return 1 + max(self._distances(edge)[other] for edge in edges for other in edges)

    @property
    def longest_delay(self) -> float:
        """Propagation from a host to the farthest other, s."""
        ends = {link.high.node: host for host, link in self.shape.link_of.items()}  # one host per switch
        hosts = [*ends.values()]
        if len(hosts) == 1:
            return 2 * self.shape.link_of[hosts[0]].delay
        return max(sum(link.delay for link in self.path(src, dst)) for src in hosts for dst in hosts if src != dst)

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
