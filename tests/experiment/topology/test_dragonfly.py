"""Dragonflies, held against the closed forms of Kim et al., without building them."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from testbed.errors import BadInput
from testbed.experiment.load import load
from testbed.experiment.topology.kinds import shape_of
from testbed.experiment.topology.routes import Routes
from testbed.experiment.topology.shape import Shape


def dragonfly(**settings: Any) -> Shape:
    rack = {"kind": "dragonfly", **settings}
    return shape_of(load("leaf-spine").apply([f"rack={rack}", "engine=virtual"]).experiment.rack, 0)


@pytest.mark.parametrize(("h", "hosts"), [(2, 72), (3, 342), (4, 1056)])
def test_a_balanced_one_has_its_hosts_and_links(h: int, hosts: int) -> None:
    shape = dragonfly(h=h)
    groups = 2 * h * h + 1
    assert len(shape.hosts) == h * 2 * h * groups == hosts
    ports = Counter(port.switch for port in shape.ports)
    assert set(ports.values()) == {h + (2 * h - 1) + h}  # radix 4 h - 1
    assert sorted(port.number for port in shape.ports if port.switch == "s3") == [*range(1, 4 * h)]
    group = {switch: number // (2 * h) for number, switch in enumerate(shape.switches)}
    between = Counter(frozenset((group[link.low.node], group[link.high.node])) for link in shape.trunks)
    assert [count for pair, count in between.items() if len(pair) == 2] == [1] * (groups * (groups - 1) // 2)


def test_ways_are_minimal() -> None:
    """At most four switches, and never two links between groups."""
    shape = dragonfly(h=2)
    routes = Routes(shape)
    assert routes.most_hops == 4
    for dst in shape.hosts[1:]:
        far = [link.kind for link in routes.path("h1", dst)].count("far")
        same = (int(shape.edge(dst)[1:]) - 1) // 4 == 0
        assert far == (0 if same else 1)
    slow = dragonfly(h=2, far={"delay": "10 us"})
    assert Routes(slow).longest_delay == pytest.approx(2 * 2e-6 + 2 * 2e-6 + 10e-6)


def test_groups_beyond_what_can_be_linked_are_refused() -> None:
    with pytest.raises(BadInput, match="groups: must be from 2 to 9: there are 4 switches of 2 links in a group"):
        dragonfly(h=2, groups=10)
