"""Racks from `topology.txt` of the simulators that descend from HPCC's (github.com/alibaba-edu/
High-Precision-Congestion-Control): a line of counts, the switches' numbers, and a line per link.

    4 1 3
    0
    0 1 100Gbps 1us 0
    ...

The counts are nodes, switches and links; PowerTCP's have the number of ToRs before that of the links, Reverie's two
rates after it; SimAI's are nodes, GPUs per server, NVSwitches, switches, links and the GPU's type.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from testbed.experiment import ns3_units
from testbed.experiment.lines import Line, lines
from testbed.experiment.topology.any_rack import MOST_HOSTS, MOST_SWITCHES, MOST_TRUNKS
from testbed.experiment.topology.graph import Graph, GraphLink, GraphNode

HEAD = "the counts of nodes, switches and links"
LINK = "a link of five words: two nodes, rate (100Gbps), delay (1us), share of packets lost (0)"
ONE_PLACE = {3: 2, 4: 3, 6: 3}  # words of the first line: which is the number of links


def is_one(first: Line) -> bool:
    """Whether a file that begins so is one of these."""
    words = first.words[:5] if len(first.words) == 6 else first.words
    return 3 <= len(words) <= 6 and words[0] != "0" and all(word.lstrip("-").isdecimal() for word in words)


def read(file: Path) -> Graph:
    """Raises ValueError with the line, or OSError."""
    found = lines(file)
    head = next(found)
    simai = len(head.words) == 6 and not head.words[5].isdecimal()
    if not simai and len(head.words) not in ONE_PLACE:
        head.refuse(HEAD)
    nodes = head.whole(0, "the number of nodes", 1, MOST_HOSTS + MOST_SWITCHES)
    inner = head.whole(2, "the number of NVSwitches", 0, nodes) if simai else 0
    count = head.whole(3 if simai else 1, "the number of switches", 0, nodes - inner)
    links = head.whole(4 if simai else ONE_PLACE[len(head.words)], "the number of links", 1, MOST_TRUNKS + MOST_HOSTS)
    switches = _switches(found, head, inner + count, nodes)
    inside = set(switches[:inner])
    outside = set(switches[inner:])
    made = [_link(file, found, head, n, nodes) for n in range(links)]
    kept = [one for one in made if not inside & {int(end) for end in one.ends}]
    place = f"{file}, line {head.number}"
    graph_nodes = [
        GraphNode(str(n), place, "switch" if n in outside else "host") for n in range(nodes) if n not in inside
    ]
    notes = []
    if inner:
        notes.append(f"without its {inner} NVSwitches and their {links - len(kept)} links: hosts have one link here")
    if rest := next(found, None):  # the simulators do not read it either
        notes.append(f"without what follows its {links:,} links, from line {rest.number} on")
    return Graph(graph_nodes, kept, str(file), "a topology of the HPCC family", tuple(notes))


def _switches(found: Iterator[Line], head: Line, count: int, nodes: int) -> list[int]:
    """All on one line, or on several."""
    numbers: list[int] = []
    while len(numbers) < count:
        line = next(found, None)
        if line is None:
            head.refuse(f"{count} numbers of switches in the lines below")
        numbers += [line.whole(n, "the number of a switch", 0, nodes - 1) for n in range(len(line.words))]
        if len(numbers) > count or len(set(numbers)) < len(numbers):
            line.refuse(f"{count} different numbers of switches")
    return numbers


def _link(file: Path, found: Iterator[Line], head: Line, number: int, nodes: int) -> GraphLink:
    line = next(found, None)
    if line is None:
        head.refuse(f"as many links as it says, but there are {number}")
    if len(line.words) != 5:
        line.refuse(LINK)
    ends = str(line.whole(0, "a node", 0, nodes - 1)), str(line.whole(1, "a node", 0, nodes - 1))
    rate, delay = ns3_units.rate(line.words[2]), ns3_units.seconds(line.words[3])
    try:
        loss = float(line.words[4])
    except ValueError:
        loss = -1.0
    if not (rate > 0 and delay >= 0 and 0 <= loss < 1):
        line.refuse(LINK)
    own = {"rate": rate, "delay": delay}
    return GraphLink(ends, f"{file}, line {line.number}", own | ({"loss": loss} if loss else {}))
