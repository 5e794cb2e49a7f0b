"""Racks of servers with several NICs, without building them."""

from __future__ import annotations

from testbed.experiment.load import load
from testbed.experiment.topology.kinds import shape_of
from testbed.experiment.topology.routes import Routes
from tests.support.ways import paths


def test_nics_of_one_number_are_at_one_switch() -> None:
    experiment = load("rails-32").apply(["engine=virtual"]).experiment
    shape = shape_of(experiment.rack, 0)
    assert (len(shape.hosts), len(shape.switches), len(shape.trunks)) == (32, 16, 64)
    assert [shape.edge(host) for host in ("h1", "h8", "h9", "h32")] == ["rail1", "rail8", "rail1", "rail8"]
    routes = Routes(shape)
    assert routes.hops("h1", "h9") == 1
    assert routes.hops("h1", "h10") == 3
    assert paths(routes, "h1", "h10") == 8


def test_what_stays_in_a_server_is_no_flow() -> None:
    """A hierarchy's first and last rings do; a ring of all ranks leaves each server once."""
    for algorithm, flows in (("hierarchical", 32 * 2 * 3), ("ring", 4 * 2 * 31)):
        settings = [f"traffic.algorithm={algorithm}", "traffic.iterations=1", "engine=virtual"]
        plan = load("rails-32").apply(settings).experiment.plan
        servers = [{(int(host[1:]) - 1) // 8 for host in pair} for pair in plan.pairs]
        assert all(len(both) == 2 for both in servers)
        assert len(plan) == flows
