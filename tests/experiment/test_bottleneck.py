"""The bottleneck is the port with the most load."""

from __future__ import annotations

from testbed.experiment.bottleneck import busiest_port
from testbed.experiment.topology.routes import Routes
from testbed.experiment.topology.shape import LinkKind, dumbbell, star
from testbed.experiment.traffic.flow import Flow
from testbed.experiment.traffic.plan import Plan
from tests.support.shapes import LINK, leaf_spine

ENDLESS = float("inf")


def plan(*flows: tuple[str, str]) -> Plan:
    """Endless flows."""
    return Plan.of([Flow(src, dst, ENDLESS, 0.0) for src, dst in flows])


def test_the_bottleneck_is_the_port_with_the_most_load() -> None:
    shape = leaf_spine()
    many_to_one = plan(*((f"h{n}", "h12") for n in range(1, 9)))
    assert shape.ports[busiest_port(Routes(shape), many_to_one, 1.0)].name == "leaf3-eth4"
    pairs = dumbbell(2, 2, LINK, LinkKind("bottleneck", 10e9, 1e-6))
    assert pairs.ports[busiest_port(Routes(pairs), plan(("h1", "h3"), ("h2", "h4")), 1.0)].name == "s1-eth3"
    one_switch = star(4, LinkKind("link", 1e9, 0.0))
    assert one_switch.ports[busiest_port(Routes(one_switch), plan(("h1", "h3"), ("h2", "h3")), 1.0)].name == "s1-eth3"
