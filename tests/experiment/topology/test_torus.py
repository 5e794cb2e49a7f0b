"""Tori, held against closed forms, without building them."""

from __future__ import annotations

from collections import Counter
from math import comb, factorial, prod

import pytest

from testbed.experiment.load import load
from testbed.experiment.topology.kinds import shape_of
from testbed.experiment.topology.routes import Routes
from testbed.experiment.topology.shape import Shape
from tests.support.ways import paths


def torus(*dimensions: int, hosts: int = 1) -> Shape:
    rack = {"kind": "torus", "dimensions": [*dimensions], "hosts_per_switch": hosts}
    return shape_of(load("leaf-spine").apply([f"rack={rack}", "engine=virtual"]).experiment.rack, 0)


@pytest.mark.parametrize("dimensions", [(8,), (4, 4), (5, 3), (4, 4, 4), (2, 6), (2, 2, 2)])
def test_each_switch_has_two_neighbours_in_each_dimension(dimensions: tuple[int, ...]) -> None:
    shape = torus(*dimensions, hosts=2)
    assert len(shape.hosts) == 2 * prod(dimensions)
    trunks = Counter(port.switch for port in shape.ports if not port.to_host)
    assert set(trunks.values()) == {sum(2 if length > 2 else 1 for length in dimensions)}
    assert len({port.name for port in shape.ports}) == len(shape.ports)
    assert Routes(shape).most_hops == 1 + sum(length // 2 for length in dimensions)


def test_a_bisection_cuts_every_row_twice() -> None:
    shape = torus(8, 8)
    half = {f"s{number}" for number in range(1, 33)}
    cut = [link for link in shape.trunks if (link.low.node in half) != (link.high.node in half)]
    assert len(cut) == 2 * 8


def test_ways_are_the_orders_of_steps() -> None:
    """To the switch two to the right and one down there are 3; to the opposite corner of 4 x 4, either way in each."""
    routes = Routes(torus(8, 8))
    assert paths(routes, "h1", f"h{1 + 8 + 2}") == comb(3, 1)
    assert paths(Routes(torus(4, 4)), "h1", "h11") == 4 * comb(4, 2)
    assert paths(Routes(torus(3, 3, 3)), "h1", "h14") == factorial(3)
