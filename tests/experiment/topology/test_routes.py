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
    settings = ["rack={kind: dragonfly, h: 2, groups: 3, hosts_per_switch: 1}", "engine=virtual"]
    shape = shape_of(load("leaf-spine").apply(settings).experiment.rack, 0)
    routes = Routes(shape)
    demand = np.random.default_rng(1).uniform(0, 1, (len(shape.hosts), len(shape.hosts)))
    one_by_one = np.zeros(len(shape.ports))
    for src, row in zip(shape.hosts, demand, strict=True):
        for dst, rate in zip(shape.hosts, row.tolist(), strict=True):
            for name, share in routes.spread(src, dst).items():
                one_by_one[shape.position[name]] += share * rate * (name != shape.port_of(dst).name)
    assert routes.carried(demand) == pytest.approx(one_by_one)
