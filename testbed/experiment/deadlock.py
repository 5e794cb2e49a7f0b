"""Whether PFC could deadlock: pauses that wait for each other in a cycle never end.

A port whose peer is full waits for the ports that its packets go to next. These dependencies of buffers, for all
routes between hosts, must have no cycle (Dally and Seitz 1987, for channels of a network). Ports towards hosts
wait for nothing, because receivers are never slow here.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from graphlib import CycleError, TopologicalSorter

from testbed.experiment.events import Step
from testbed.experiment.topology.tables import Hops, Tables
from testbed.units import show_time

Graph = dict[str, set[str]]  # by the name of a port between switches: those that it waits for


def possible(tables: Tables, steps: Sequence[Step] = ()) -> str:
    """How the switches of a rack could deadlock, now or when they reroute; empty if they cannot."""
    for since, graph in _routed(tables, steps):
        if found := cycle(graph):
            return _message(found) + since
    return ""


def every_dependency(tables: Tables, steps: Sequence[Step] = ()) -> Graph:
    """Over the routes of the whole run."""
    return _together(graph for _, graph in _routed(tables, steps))


def _routed(tables: Tables, steps: Sequence[Step]) -> Iterator[tuple[str, Graph]]:
    """Since when, and the dependencies from then on."""
    yield "", dependencies(tables.hops)
    for step in steps:
        if step.verb != "reroute":
            for link in step.links:
                (tables.link_down if step.verb == "down" else tables.link_up)(link)
            continue
        before = dependencies(tables.hops)  # what has come in over the old routes is still there
        tables.reroute(step.links)
        yield f", with the routes from {show_time(step.at)} on", _together((before, dependencies(tables.hops)))


def _together(graphs: Iterable[Graph]) -> Graph:
    found: Graph = defaultdict(set)
    for graph in graphs:
        for port, waits in graph.items():
            found[port] |= waits
    return found


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


def cycle(graph: Graph) -> list[str]:
    """The ports of one cycle, in order; empty if there is none."""
    try:
        TopologicalSorter({port: sorted(graph[port]) for port in sorted(graph)}).prepare()
    except CycleError as error:
        return [*reversed(error.args[1][1:])]  # which goes back, and ends where it begins
    return []
