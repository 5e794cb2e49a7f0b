"""Shapes of racks without building them: names, ports, paths, base RTTs computed by hand, and the bottleneck."""

from __future__ import annotations

import pytest

from testbed.experiment.bottleneck import busiest_port
from testbed.experiment.load import load
from testbed.experiment.topology.framing import Framing
from testbed.experiment.topology.kinds import shape_of
from testbed.experiment.topology.paths import FlowPaths, PathTimes, netem_delay
from testbed.experiment.topology.routes import Routes
from testbed.experiment.topology.shape import LONGEST_NAME, Quality, Shape, dumbbell, star, two_level
from testbed.experiment.traffic.flow import Flow
from testbed.experiment.traffic.plan import Plan

FRAMING = Framing(1000)  # 1078 B, ACKs of 78 B
LINK, UPLINK = Quality("link", 25e9, 1e-6), Quality("uplink", 100e9, 3e-6)
ENDLESS = float("inf")


def leaf_spine(leaves: int = 3, spines: int = 2, hosts: int = 4) -> Shape:
    """Three leaves, two spines."""
    lower, upper = [f"leaf{n + 1}" for n in range(leaves)], [f"spine{n + 1}" for n in range(spines)]
    return two_level("leaf-spine", lower, upper, hosts=hosts, link=LINK, trunk=UPLINK)


def test_ports_are_listed_switch_by_switch() -> None:
    names = [port.name for port in leaf_spine(2, 2, 2).ports]
    assert names[:4] == ["leaf1-eth1", "leaf1-eth2", "leaf1-eth3", "leaf1-eth4"]
    assert names[4:] == [
        f"{switch}-eth{n}"
        for switch, ports in (("leaf2", 4), ("spine1", 2), ("spine2", 2))
        for n in range(1, ports + 1)
    ]
    assert [port.name for port in star(3, 1e9).ports] == ["s1-eth1", "s1-eth2", "s1-eth3"]


def test_every_port_knows_what_is_at_the_other_end() -> None:
    shape = leaf_spine()
    neighbour = {port.name: port.neighbour for port in shape.ports}
    assert (neighbour["leaf2-eth1"], neighbour["leaf2-eth6"], neighbour["spine2-eth3"]) == ("h5", "spine2", "leaf3")
    for port in shape.ports:
        if not port.to_host:
            assert shape.ports[shape.position[port.far.interface]].far.interface == port.name
    assert [shape.edge(host) for host in ("h1", "h4", "h5", "h12")] == ["leaf1", "leaf1", "leaf2", "leaf3"]


def test_pet_has_288_hosts_and_18_switches() -> None:
    experiment = load("pet-288").experiment
    shape = shape_of(experiment.rack, experiment.hosts)
    assert (len(shape.hosts), len(shape.switches), len(shape.trunks)) == (288, 18, 72)
    assert {link.rate for link in shape.trunks} == {100e9}
    assert shape.line_rate("h288") == 25e9
    assert max(len(port.name) for port in shape.ports) <= LONGEST_NAME
    assert len({shape.address(host) for host in shape.hosts}) == 288


def test_a_fat_tree_does_not_block() -> None:
    """DECC's: 4 ToRs with 16 hosts each; what the hosts of a ToR can send, its uplinks carry."""
    rack = load("leaf-spine").apply(["rack={kind: fat-tree}"]).experiment.rack
    shape = shape_of(rack, 64)
    assert (len(shape.hosts), len(shape.switches)) == (64, 8)
    uplinks = [link for link in shape.trunks if link.low.node == "tor1"]
    assert sum(link.rate for link in uplinks) == pytest.approx(16 * shape.line_rate("h1"))


def test_base_rtt_is_propagation_and_serialisation_at_each_link() -> None:
    routes = Routes(leaf_spine())
    near, far = (PathTimes(routes.path("h1", dst), FRAMING) for dst in ("h2", "h12"))
    assert (near.hops, far.hops, routes.most_hops) == (1, 3, 3)
    both = (1078 + 78) * 8
    assert near.base_rtt == pytest.approx(4 * 1e-6 + 2 * both / 25e9)
    assert far.base_rtt == pytest.approx(2 * (1 + 3 + 3 + 1) * 1e-6 + 2 * both / 25e9 + 2 * both / 100e9)
    paths = FlowPaths.of(routes, ["h1", "h1"], ["h2", "h12"], FRAMING)
    assert paths.hops.tolist() == [1, 3]
    assert paths.path_rate.tolist() == [25e9, 25e9]


def test_the_published_star_has_an_rtt_of_8_us_and_serialisation() -> None:
    routes = Routes(star(3, 100e9, 2e-6))
    assert PathTimes(routes.path("h1", "h3"), FRAMING).base_rtt == pytest.approx(8e-6 + 2 * (1078 + 78) * 8 / 100e9)


def test_netem_delays_add_up_to_the_base_rtt() -> None:
    """Data out of its host and through the switches' ports, and the ACK back."""
    routes = Routes(leaf_spine())
    for dst in ("h2", "h12"):
        links = routes.path("h1", dst)
        trunks = [netem_delay(link, FRAMING) for link in links[1:-1]]
        there, back = netem_delay(links[0], FRAMING), netem_delay(links[-1], FRAMING)
        assert there + back + 2 * sum(trunks) == pytest.approx(PathTimes(links, FRAMING).base_rtt)


def test_ecmp_spreads_over_all_spines_and_only_up_and_down() -> None:
    shares = Routes(leaf_spine()).spread("h1", "h12")
    assert shares == {
        "leaf1-eth5": 0.5, "leaf1-eth6": 0.5, "spine1-eth3": 0.5, "spine2-eth3": 0.5, "leaf3-eth4": 1.0,
    }  # fmt: skip
    assert Routes(leaf_spine()).spread("h1", "h2") == {"leaf1-eth2": 1.0}


def test_routes_leave_out_dead_links_at_all_leaves() -> None:
    shape = leaf_spine()
    routes = Routes(shape, {shape.find("leaf3-spine2")})
    for leaf in ("leaf1", "leaf2"):
        assert [port.neighbour for port in routes.next_hops(leaf, "leaf3")] == ["spine1"]
    assert [port.neighbour for port in routes.next_hops("leaf3", "leaf1")] == ["spine1"]
    assert len(routes.next_hops("leaf1", "leaf2")) == 2
    assert shape.find("leaf3-eth6") == shape.find("spine2-eth3") == shape.find("spine2-leaf3")
    with pytest.raises(KeyError):
        shape.find("leaf1-leaf2")


def plan(*flows: tuple[str, str]) -> Plan:
    """Endless flows."""
    return Plan.of([Flow(src, dst, ENDLESS, 0.0) for src, dst in flows])


def test_the_bottleneck_is_the_port_with_the_most_load() -> None:
    shape = leaf_spine()
    many_to_one = plan(*((f"h{n}", "h12") for n in range(1, 9)))
    assert shape.ports[busiest_port(Routes(shape), many_to_one, 1.0)].name == "leaf3-eth4"
    pairs = dumbbell(2, 2, LINK, Quality("bottleneck", 10e9, 1e-6))
    assert pairs.ports[busiest_port(Routes(pairs), plan(("h1", "h3"), ("h2", "h4")), 1.0)].name == "s1-eth3"
    one_switch = star(4, 1e9)
    assert one_switch.ports[busiest_port(Routes(one_switch), plan(("h1", "h3"), ("h2", "h3")), 1.0)].name == "s1-eth3"
