"""Graphs in files: YAML of our own (``nodes`` and ``links``), containerlab's, GraphML, and those of simulators
(`hpcc_file`, `htsim_file`, `astra_file`). What a file is tells its content.

What a link may say everywhere is `OwnSettings`: rate, delay, loss, buffer, each with its unit. In GraphML these are
attributes of edges, and ``LinkSpeedRaw`` in bit/s, as the Internet Topology Zoo has it, is a rate; in containerlab
they are ``labels`` or ``vars`` of links. ``role`` of a node is ``host`` or ``switch``, also there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, get_args

from pydantic import ValidationError

from testbed.base import extras
from testbed.base.inputs import once
from testbed.base.problems import first_problem
from testbed.errors import BadInput, nearest
from testbed.experiment.document import Document, KeyPath
from testbed.experiment.lines import Line, first
from testbed.experiment.topology import astra_file, hpcc_file, htsim_file
from testbed.experiment.topology.graph import Graph, GraphLink, GraphNode, Role
from testbed.experiment.topology.links import OwnSettings

ZOO_RATE = "LinkSpeedRaw"
FORMATS = (
    "a rack: YAML with 'nodes' and 'links', YAML of containerlab with 'topology', GraphML, topology.txt of the HPCC "
    "family, .topo of htsim, or a network file of ASTRA-sim"
)
SIMULATORS: tuple[tuple[Callable[[Line], bool], Callable[[Path], Graph]], ...] = (
    (hpcc_file.is_one, hpcc_file.read),
    (htsim_file.is_one, htsim_file.read),
    (astra_file.is_one, astra_file.read),
)


def read(file: Path) -> Graph:
    """Raises BadInput with the file and the line."""
    try:
        return _found(file)
    except OSError as error:
        raise BadInput(f"cannot read {file}: {error.strerror}") from None
    except ValueError as error:
        raise BadInput(str(error)) from None


@once
def _found(file: Path) -> Graph:
    begin = first(file)
    for is_one, read_one in SIMULATORS:
        if is_one(begin):
            return read_one(file)
    if begin.words and begin.words[0].startswith("<"):
        return _graphml(file)
    document = Document.read(file, expected=FORMATS)
    topology = document.data.get("topology")
    return _containerlab(document, topology) if topology is not None else _ours(document)


def _ours(document: Document) -> Graph:
    unknown = next((key for key in document.data if key not in {"nodes", "links"}), None)
    if unknown is not None:
        hint = nearest(unknown, ["nodes", "links"])
        raise BadInput(f"{document.origin((unknown,))}: {unknown}: no such key; {hint}; expected {FORMATS}")
    nodes, links = (_list(document, (key,), document.data.get(key)) for key in ("nodes", "links"))
    made = [_node(document, place, one) for place, one in enumerate(nodes)]
    between = [_link(document, place, one) for place, one in enumerate(links)]
    return Graph(made, between, document.name, "nodes and links")


def _node(document: Document, place: int, one: object) -> GraphNode:
    path: KeyPath = ("nodes", place)
    if isinstance(one, dict):
        _only(document, path, one, ("name", "role", "bond"))
        name, bond = _text(document, path, one.get("name")), one.get("bond", False)
        if not isinstance(bond, bool):
            raise BadInput(f"{document.origin(path)}: bond: expected true or false, got '{bond}'")
        return GraphNode(name, document.origin(path), _role(document, path, one), bond)
    return GraphNode(_text(document, path, one), document.origin(path))


def _link(document: Document, place: int, one: object) -> GraphLink:
    path: KeyPath = ("links", place)
    if not isinstance(one, dict):
        raise BadInput(f"{document.origin(path)}: expected a link: {{ends: [a, b], rate: 25 Gbit/s}}")
    ends = one.get("ends")
    if not (isinstance(ends, list) and len(ends) == 2):
        raise BadInput(f"{document.origin(path)}: ends: expected the names of two nodes, such as [h1, s1]")
    own = {key: value for key, value in one.items() if key != "ends"}
    first, second = (_text(document, path, end) for end in ends)
    return GraphLink((first, second), document.origin(path), _own(document.origin(path), own))


def _containerlab(document: Document, topology: object) -> Graph:
    """https://containerlab.dev/manual/topo-def-file: ``topology.nodes`` by name, ``topology.links`` with endpoints."""
    if not isinstance(topology, dict) or not isinstance(topology.get("nodes"), dict):
        raise BadInput(
            f"{document.origin(('topology',))}: topology: expected nodes and links, as containerlab has them"
        )
    nodes = []
    for name, about in topology["nodes"].items():
        path: KeyPath = ("topology", "nodes", name)
        labels = _named(document, path, about, "labels") if isinstance(about, dict) else {}
        nodes.append(GraphNode(name, document.origin(path), _role(document, path, labels)))
    links = []
    for place, one in enumerate(_list(document, ("topology", "links"), topology.get("links"))):
        path = ("topology", "links", place)
        points = one.get("endpoints") if isinstance(one, dict) else None
        if not (isinstance(points, list) and len(points) == 2):
            raise BadInput(f'{document.origin(path)}: endpoints: expected two, such as ["leaf1:eth1", "h1:eth1"]')
        first, second = (
            _text(document, path, end.get("node") if isinstance(end, dict) else str(end).partition(":")[0])
            for end in points
        )
        said = _named(document, path, one, "vars") | _named(document, path, one, "labels")
        own = {key: value for key, value in said.items() if key in OwnSettings.model_fields}
        links.append(GraphLink((first, second), document.origin(path), _own(document.origin(path), own)))
    return Graph(nodes, links, document.name, "a topology of containerlab")


def _graphml(file: Path) -> Graph:
    extras.need("networkx")
    import networkx
    from networkx.exception import NetworkXError

    try:
        text = file.read_text(encoding="utf-8")
        found = networkx.parse_graphml(text, force_multigraph=True)
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise BadInput(f"cannot read {file}: {reason}") from None
    except SyntaxError as error:  # what the parser of XML raises; its message has line and column
        raise BadInput(f"{file}: not valid XML: {error}") from None
    except (NetworkXError, KeyError, ValueError) as error:
        raise BadInput(f"{file}: not valid GraphML: {error}") from None
    lines = _lines(text)
    named = {key: str(about.get("label", key)) for key, about in found.nodes(data=True)}
    if len(set(named.values())) < len(named):  # labels that repeat name nothing
        named = {key: str(key) for key in named}
    nodes = [
        GraphNode(named[key], f"{file}{lines.get(key, '')}", _role_of(f"{file}{lines.get(key, '')}", about))
        for key, about in found.nodes(data=True)
    ]
    links = []
    for one, other, about in found.edges(data=True):
        place = f"{file}{lines.get((one, other), '')}"
        own = {key: value for key, value in about.items() if key in OwnSettings.model_fields}
        if ZOO_RATE in about:
            own.setdefault("rate", _zoo_rate(place, about[ZOO_RATE]))
        links.append(GraphLink((named[one], named[other]), place, _own(place, own)))
    return Graph(nodes, links, str(file), "GraphML")


def _zoo_rate(place: str, value: str | float) -> str:
    try:
        return f"{float(value):.0f} bit/s"
    except ValueError:
        raise BadInput(f"{place}: {ZOO_RATE}: expected a number of bit/s, got '{value}'") from None


def _lines(text: str) -> dict[Any, str]:
    """Where nodes and edges are: networkx does not keep it."""
    found: dict[Any, str] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        said = dict(re.findall(r"""\b(id|source|target)=["']([^"']*)["']""", line))
        if "<node" in line and "id" in said:
            found.setdefault(said["id"], f", line {number}")
        elif "source" in said and "target" in said:
            for pair in ((said["source"], said["target"]), (said["target"], said["source"])):
                found.setdefault(pair, f", line {number}")
    return found


def _own(place: str, said: Mapping[str, object]) -> dict[str, Any]:
    try:
        return OwnSettings.model_validate(said).said()
    except ValidationError as error:
        raise BadInput(f"{place}: {first_problem(error)}") from None


def _role(document: Document, path: KeyPath, about: Mapping[str, object]) -> Role:
    return _role_of(document.origin(path), about)


def _role_of(place: str, about: Mapping[str, object]) -> Role:
    role = about.get("role", "")
    for allowed in get_args(Role):
        if role == allowed:
            return allowed  # type: ignore[no-any-return]
    raise BadInput(f"{place}: role: '{role}' is not allowed; expected host or switch")


def _list(document: Document, path: KeyPath, value: object) -> list[Any]:
    if not isinstance(value, list):
        raise BadInput(f"{document.origin(path)}: {path[-1]}: expected a list")
    return value


def _named(document: Document, path: KeyPath, of: Mapping[str, object], key: str) -> dict[str, Any]:
    value = of.get(key) or {}
    if not isinstance(value, dict):
        raise BadInput(f"{document.origin(path)}: {key}: expected names and values, got '{value}'")
    return value


def _text(document: Document, path: KeyPath, value: object) -> str:
    if not isinstance(value, str | int) or isinstance(value, bool) or value == "":
        raise BadInput(f"{document.origin(path)}: expected the name of a node, got '{value}'")
    return str(value)


def _only(document: Document, path: KeyPath, data: Mapping[str, object], allowed: tuple[str, ...]) -> None:
    for key in data:
        if key not in allowed:
            raise BadInput(f"{document.origin((*path, key))}: {key}: no such key; allowed: {', '.join(allowed)}")
