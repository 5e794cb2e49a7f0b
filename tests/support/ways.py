"""How many ways there are through a rack."""

from __future__ import annotations

from collections import Counter

from testbed.experiment.topology.routes import Routes


def paths(routes: Routes, src: str, dst: str) -> int:
    """How many shortest paths lead from one host to another."""
    count, at = 0, Counter([routes.shape.edge(src)])
    while at:
        count += at.pop(routes.shape.edge(dst), 0)
        ahead: Counter[str] = Counter()
        for switch, ways in at.items():
            for port in routes.next_hops(switch, routes.shape.edge(dst)):
                ahead[port.neighbour] += ways
        at = ahead
    return count
