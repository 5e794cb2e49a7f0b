"""Racks as their authors draw them, and links that differ from their kind."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from testbed.errors import BadInput
from testbed.experiment.layout import Layout
from testbed.experiment.load import load, resolve
from testbed.experiment.model import Experiment
from testbed.experiment.topology.graph_file import read

GRAPHS = Path(__file__).parent / "graphs"
REST = "\ntraffic: {pattern: flows, flows: [{src: h1, dst: h2}]}\ncontroller: swift\n"


def experiment(folder: Path, rack: str, rest: str = REST) -> Experiment:
    file = folder / "x.yaml"
    file.write_text(f"rack:\n  {rack.strip()}{rest}")
    return load(str(file)).experiment


def refused(folder: Path, rack: str) -> str:
    with pytest.raises(BadInput) as caught:
        experiment(folder, rack)
    return str(caught.value).replace(f"{folder}/", "")


def test_a_parking_lot() -> None:
    one = Layout(load("parking-lot").experiment)
    assert one.shape.switches == ("s1", "s2", "s3", "s4")
    assert one.paths.hops.tolist() == [4, 2, 2, 2]
    assert one.paths.path_rate.tolist() == [40e9] * 4
    assert one.paths.line_rate.tolist() == [100e9] * 4
    assert [port.name for port in one.shape.ports if port.switch == "s1"] == ["s1-eth1", "s1-eth2", "s1-eth3"]


def test_hosts_are_nodes_with_one_link_in_the_order_of_the_nodes(tmp_path: Path) -> None:
    one = experiment(
        tmp_path, "kind: custom\n  nodes: [b, x, a]\n  links: [{ends: [x, a]}, {ends: [b, x], delay: 7 us}]"
    )
    assert one.hosts == 2
    assert one.shape.aliases == {"h1": "b", "h2": "a"}
    assert one.shape.link_of["h1"].delay == 7e-6
    assert one.shape.link_of["h2"].delay == 2e-6  # the default of rack.link


def test_a_switch_may_have_one_link_if_it_says_so(tmp_path: Path) -> None:
    nodes = "nodes: [a, x, b, {name: stub, role: switch}]"
    one = experiment(
        tmp_path, f"kind: custom\n  {nodes}\n  links: [{{ends: [x, a]}}, {{ends: [b, x]}}, {{ends: [x, stub]}}]"
    )
    assert (one.hosts, one.shape.switches) == (2, ("x", "stub"))


def test_containerlab() -> None:
    shape = load("incast-2").apply([f"rack={{kind: custom, file: {GRAPHS}/lab.clab.yml}}"]).experiment.shape
    assert shape.aliases == {"h1": "client1", "h2": "client2", "h3": "client3"}
    assert shape.switches == ("leaf1", "leaf2")
    assert (shape.link_of["h2"].rate, shape.link_of["h2"].delay) == (25e9, 3e-6)
    assert shape.find("leaf1-leaf2").rate == 40e9


def test_graphml_of_the_topology_zoo() -> None:
    """Labels are the nodes' names; what Linux cannot call an interface gets a number."""
    shape = load("incast-2").apply(
        [f"rack={{kind: custom, file: {GRAPHS}/zoo.graphml}}", "traffic={pattern: flows, flows: [{src: h1, dst: h2}]}"]
    ).experiment.shape  # fmt: skip
    assert shape.aliases == {"s1": "New York", "h1": "Lab A", "h2": "Lab B"}
    assert shape.switches == ("s1", "Chicago")
    assert (shape.trunks[0].rate, shape.trunks[0].delay) == (10e9, 8e-6)


@pytest.mark.parametrize(
    ("rack", "says"),
    [
        (
            "nodes: [a, x, a]\n  links: []",
            "x.yaml, line 3: rack.nodes.2: the node 'a' is there twice; first at nodes.0",
        ),
        (
            "nodes: [a, x, b]\n  links:\n    - {ends: [a, x]}\n    - {ends: [b, y]}",
            "x.yaml, line 6: rack.links.1: no node is named 'y'; allowed: a, b, x",
        ),
        (
            "nodes: [a, x, b]\n  links:\n    - {ends: [a, a]}",
            "x.yaml, line 5: rack.links.0: a link needs two ends, but both are 'a'",
        ),
        (
            "nodes: [a, x, b]\n  links:\n    - {ends: [a, x], rate: 0}",
            "x.yaml, line 5: rack.links.0.rate: must be more than 0",
        ),
        (
            "nodes: [a, b]\n  links: [{ends: [a, b]}]",
            "x.yaml, line 4: rack.links.0: the hosts 'a' and 'b' have no switch between them",
        ),
        (
            "nodes: [a, x, b, c, y, d]\n  links: [{ends: [a, x]}, {ends: [b, x]}, {ends: [c, y]}, {ends: [y, d]}]",
            "x.yaml, line 3: rack.nodes: no path leads from 'a' to 'c'",
        ),
        (
            "nodes: [a, x, b]\n  links: [{ends: [a, x]}, {ends: [b, x]}, {ends: [x, b]}, {ends: [x, a]}]",
            "x.yaml, line 3: rack.nodes: 0 hosts; from 2 to 65535 are possible",
        ),
        (
            "nodes: [a, x, c, {name: b, role: host}]\n  links: [{ends: [a, x]}, {ends: [c, x]}]",
            "'b' has no link",
        ),
        ("link: {}", "x.yaml, line 1: rack.file: say either 'file', or 'nodes' and 'links'"),
        ("file: ./nowhere.yaml", "x.yaml, line 3: rack.file: cannot read nowhere.yaml: No such file or directory"),
    ],
)
def test_bad_graphs(rack: str, says: str, tmp_path: Path) -> None:
    assert says in refused(tmp_path, f"kind: custom\n  {rack}")


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        (
            "g.yaml",
            "nodes: [a, x, b]\nlinks:\n- {ends: [a, x]}\n- {ends: [b, x], rate: 5}\n",
            "g.yaml, line 4: rate: 5 has no",
        ),
        (
            "g.yaml",
            "nodes: [a, x, b]\nlinks:\n- {ends: [a, x]}\n- {ends: [b, q]}\n",
            "g.yaml, line 4: no node is named 'q'",
        ),
        ("g.yaml", "nodes: [a]\nlonks: []\n", "g.yaml, line 2: lonks: no such key; did you mean 'links'?"),
        (
            "g.dot",
            "graph G { a -- b }\n",
            "g.dot, line 1: expected a rack: YAML with 'nodes' and",
        ),
        ("g.gml", "graph [\n  node [ id 1 ]\n  { ]\n", "GraphML, topology.txt of the HPCC family"),
        (
            "g.yaml",
            "topology: {nodes: {a: {}}, links: [{}]}\n",
            'g.yaml, line 1: endpoints: expected two, such as ["leaf1',
        ),
        (
            "g.yaml",
            "topology:\n  nodes: {a: {}}\n  links:\n  - {endpoints: [a, b], vars: fast}\n",
            "g.yaml, line 4: vars: expected names and values, got 'fast'",
        ),
        ("g.graphml", "<graphml>\n<graph", "g.graphml: not valid XML"),
        (
            "g.graphml",
            (GRAPHS / "zoo.graphml").read_text().replace("double", "string").replace("10000000000.0", "fast"),
            "g.graphml, line 11: LinkSpeedRaw: expected a number of bit/s, got 'fast'",
        ),
        (
            "g.graphml",
            (GRAPHS / "zoo.graphml").read_text().replace("8 us", "fast"),
            "g.graphml, line 11: delay: 'fast' is not a time",
        ),
        (
            "g.graphml",
            (GRAPHS / "zoo.graphml").read_text().replace('source="2" target="0"', 'source="2" target="2"'),
            "g.graphml, line 12: a link needs two ends, but both are 'Lab A'",
        ),
    ],
)
def test_bad_files(name: str, content: str, says: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(content)
    assert says in refused(tmp_path, f"kind: custom\n  file: {name}")


def test_the_manifest_knows_the_file() -> None:
    one = load("incast-2").apply([f"rack={{kind: custom, file: {GRAPHS}/lab.clab.yml}}"]).experiment
    assert [file.key for file in one.rack.inputs()] == ["rack.file"]
    assert read(GRAPHS / "lab.clab.yml").nodes[0].name == "leaf1"


def test_links_that_differ_from_their_kind() -> None:
    one = Layout(load("two-speeds").experiment)
    assert one.paths.line_rate.tolist() == [25e9] * 4 + [100e9] * 4
    assert one.paths.path_rate.tolist() == [25e9] * 4 + [100e9] * 4
    uplink = (
        load("leaf-spine").apply(["rack.links=[{of: leaf1-spine2, rate: 10 Gbit/s, buffer: 1 MB}]"]).experiment.shape
    )
    assert [(str(link), link.buffer) for link in uplink.links if link.rate == 10e9] == [
        ("leaf1-eth6 - spine2-eth1", 1e6)
    ]


def test_round_trips_from_1_to_100_in_one_incast() -> None:
    rtt = Layout(load("rtt-mix").experiment).paths.base_rtt
    assert rtt.max() / rtt.min() == pytest.approx(100, rel=0.03)
    # two links there, two back; a frame of 1,104 B there and an ACK of 104 B back at 100 Gbit/s, twice each
    frame, ack = 104 + 1000, 104
    assert rtt[0] == pytest.approx(4 * 1e-6 + 2 * 8 * (frame + ack) / 100e9, rel=0.01)


@pytest.mark.parametrize(
    ("setting", "says"),
    [
        ("rack.links=[{of: h99, delay: 1 us}]", "no link is named 'h99'; expected a host (h1 to h3)"),
        ("rack.links=[{of: s1-eth2, buffer: 100 B}]", "buffer: must hold at least one full packet"),
        (
            "rack={switch: {pfc: on}, links: [{of: h1, buffer: 1 MB}]}",
            "which must be equal; h1 - s1-eth1 has one of its own",
        ),
    ],
)
def test_bad_differing_links(setting: str, says: str) -> None:
    with pytest.raises(BadInput) as caught:
        _ = load("incast-2").apply([setting]).experiment
    assert says in str(caught.value)


def chain(folder: Path, switches: int) -> str:
    names = [f"s{n}" for n in range(1, switches + 1)]
    pairs = [("h1", "s1"), *pairwise(names), (names[-1], "h2"), ("h3", "s1")]
    links = ", ".join(f"{{ends: [{one}, {other}]}}" for one, other in pairs)
    file = folder / "chain.yaml"
    file.write_text(f"rack: {{kind: custom, nodes: [h1, h2, h3, {', '.join(names)}], links: [{links}]}}{REST}")
    return str(file)


def test_int_has_room_for_eight_switches(tmp_path: Path) -> None:
    assert resolve(load(chain(tmp_path, 8)).apply(["controller=hpcc"])).layout.framing.int_hops == 8
    assert resolve(load(chain(tmp_path, 9))).layout.framing.int_hops == 0  # Swift asks for none
    with pytest.raises(BadInput, match="hpcc wants INT of every switch, and packets have room for 8; a path has 9"):
        resolve(load(chain(tmp_path, 9)).apply(["controller=hpcc"]))


def test_each_nic_of_a_host_with_several_is_a_host_of_traffic(tmp_path: Path) -> None:
    """Two planes: NIC 1 of both servers is at one switch, NIC 2 at the other, and the planes are not joined."""
    planes = "{ends: [one, p]}, {ends: [two, p]}, {ends: [one, q], rate: 40 Gbit/s}, {ends: [two, q]}, {ends: [p, q]}"
    nodes = "{name: one, role: host}, {name: two, role: host}, p, q"
    shape = experiment(tmp_path, f"kind: custom\n  nodes: [{nodes}]\n  links: [{planes}]").shape
    assert shape.aliases == {"h1": "one:1", "h2": "one:2", "h3": "two:1", "h4": "two:2"}
    assert [shape.edge(host) for host in shape.hosts] == ["p", "q", "p", "q"]
    assert [shape.line_rate(host) for host in shape.hosts] == [100e9, 40e9, 100e9, 100e9]
