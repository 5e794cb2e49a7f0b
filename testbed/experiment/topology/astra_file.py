"""Racks from network files of ASTRA-sim's analytical backend (github.com/astra-sim/astra-sim, `examples/network`).

    topology: [ Switch ]
    npus_count: [ 8 ]
    bandwidth: [ 400.0 ]  # GB/s
    latency: [ 936.25 ]  # ns

One dimension of a switch is a rack here. A latency is that of a link, and a GB/s 1e9 bytes.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from testbed.errors import BadInput
from testbed.experiment.document import Document
from testbed.experiment.lines import Line
from testbed.experiment.topology.graph import Graph, GraphLink, GraphNode

KEYS = ("topology", "npus_count", "bandwidth", "latency")
EXPECTED = f"a network file of ASTRA-sim: lists {', '.join(KEYS)}"


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
    kind, count, rate, latency = (_only(document, key) for key in KEYS)
    place = document.origin(("npus_count",))
    if kind != "Switch":
        raise BadInput(
            f"{document.origin(('topology',))}: topology: '{kind}' has links between NPUs; expected Switch, as hosts "
            "have one link here"
        )
    for key, value, least in (("npus_count", count, 2), ("bandwidth", rate, 1e-6), ("latency", latency, 0)):
        if not isinstance(value, int | float) or isinstance(value, bool) or not least <= value < 1e9:
            raise BadInput(f"{document.origin((key,))}: {key}: expected a number of at least {least:g}, got '{value}'")
    hosts = [str(n) for n in range(int(count))]
    nodes = [GraphNode(name, place, "host") for name in hosts] + [GraphNode("s1", place, "switch")]
    own = {"rate": rate * 8e9, "delay": latency * 1e-9}
    links = [GraphLink((name, "s1"), place, own) for name in hosts]
    return Graph(nodes, links, str(file), "a network of ASTRA-sim")


def _only(document: Document, key: str) -> Any:
    values = document.data.get(key)
    if not isinstance(values, list) or len(values) != 1:
        dimensions = f"{len(values)} of them" if isinstance(values, list) else "no list"
        raise BadInput(
            f"{document.origin((key,))}: {key}: expected a list of one dimension, as hosts have one link here, got "
            f"{dimensions}"
        )
    return values[0]
