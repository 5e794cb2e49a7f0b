"""Ways through a shape: all shortest ones, and none over a dead link."""

from __future__ import annotations

import numpy as np
import pytest

from testbed.experiment.load import load
from testbed.experiment.topology.kinds import shape_of
from testbed.experiment.topology.routes import Routes
from tests.support.shapes import leaf_spine


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


def test_what_ports_carry_is_what_each_pair_spreads() -> None:
    """Demands between all switches with hosts, one by one and together, over links that cost differently."""
    shape = shape_of(
        load("leaf-spine").apply(["rack={kind: dragonfly, h: 2, groups: 3}", "engine=virtual"]).experiment.rack, 0
    )
    routes = Routes(shape)
    edges = list(dict.fromkeys(map(shape.edge, shape.hosts)))
    demand = np.random.default_rng(1).uniform(0, 1, (len(edges), len(edges)))
    one_by_one = np.zeros(len(shape.ports))
    for src in shape.hosts:
        for dst in shape.hosts:
            last = shape.port_of(dst).name
            for name, share in routes.spread(src, dst).items():
                at = edges.index(shape.edge(src)), edges.index(shape.edge(dst))
                one_by_one[shape.position[name]] += share * demand[at] * (name != last)
    assert routes.carried(demand) == pytest.approx(one_by_one)
