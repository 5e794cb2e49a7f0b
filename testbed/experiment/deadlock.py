"""Whether PFC could deadlock: pauses that wait for each other in a cycle never end.

A port whose peer is full waits for the ports that its packets go to next. These dependencies of buffers, for all
routes between hosts, must have no cycle (Dally and Seitz 1987, for channels of a network). Ports towards hosts
wait for nothing, because receivers are never slow here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from testbed.experiment.events import Step
from testbed.experiment.topology.tables import Hops, Tables
from testbed.units import show_time

Graph = dict[str, set[str]]  # by the name of a port between switches: those that it waits for


def possible(tables: Tables, steps: Sequence[Step] = ()) -> str:
    """How the switches of a rack could deadlock, now or when they reroute; empty if they cannot."""
    if found := cycle(dependencies(tables.hops)):
        return _message(found)
    for step in steps:
        if step.verb != "reroute":
            for link in step.links:
                (tables.link_down if step.verb == "down" else tables.link_up)(link)
            continue
        before = dependencies(tables.hops)  # what has come in over the old routes is still there
        tables.reroute(step.links)
        after = dependencies(tables.hops)
        if found := cycle({port: before.get(port, set()) | after.get(port, set()) for port in {**before, **after}}):
            return f"{_message(found)}, with the routes from {show_time(step.at)} on"
    return ""


def every_dependency(tables: Tables, steps: Sequence[Step] = ()) -> Graph:
    """Over the routes of the whole run."""
    graph = dependencies(tables.hops)
    for step in steps:
        for link in step.links if step.verb != "reroute" else ():
            (tables.link_down if step.verb == "down" else tables.link_up)(link)
        if step.verb == "reroute":
            tables.reroute(step.links)
            for port, waits in dependencies(tables.hops).items():
                graph[port] = graph.get(port, set()) | waits
    return graph


def _message(ports: Sequence[str]) -> str:
    return f"PFC deadlock possible, cyclic buffer dependency: {' -> '.join([*ports, ports[0]])}"


def dependencies(hops: Hops) -> Graph:
    """Which port waits for which, by all routes between hosts at different switches."""
    graph: Graph = {}
    edges = {edge for ways in hops.values() for edge in ways}
    for edge in edges:
        reached = list(edges - {edge})
        seen = set(reached)
        for switch in reached:  # which grows meanwhile
            for port in hops[switch][edge]:
                waits = graph.setdefault(port.name, set())
                if port.neighbour == edge:
                    continue
                waits |= {following.name for following in hops[port.neighbour][edge]}
                if port.neighbour not in seen:
                    seen.add(port.neighbour)
                    reached.append(port.neighbour)
    return graph


def cycle(graph: Mapping[str, set[str]]) -> list[str]:
    """The ports of one cycle, in order; empty if there is none."""
    done: set[str] = set()
    for start in sorted(graph):
        path = {} if start in done else {start: iter(graph[start])}  # the ports on it, and what each has left to ask
        while path:
            at = next(reversed(path))
            ahead = next((port for port in path[at] if port not in done), None)
            if ahead is None:
                done.add(at)
                del path[at]
            elif ahead in path:
                return list(path)[list(path).index(ahead) :]
            else:
                path[ahead] = iter(graph.get(ahead, ()))
    return []
