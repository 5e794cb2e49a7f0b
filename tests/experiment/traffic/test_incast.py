"""Who sends in an incast."""

from __future__ import annotations

from collections import Counter

import pytest

from testbed.experiment.load import load
from testbed.experiment.traffic.incast import PUBLISHED, Incast
from tests.experiment.traffic.made import made


@pytest.mark.parametrize("flows", PUBLISHED)
def test_published_map_multiplies_out(flows: int) -> None:
    hosts, each = PUBLISHED[flows]
    assert hosts * each == flows
    plan = made(Incast(pattern="incast", flows=flows))
    assert set(Counter(plan.src).values()) == {each}
    assert set(plan.dst) == {f"h{hosts + 1}"}


@pytest.mark.parametrize(("flows", "hosts", "most"), [(1, 1, 1), (3, 3, 1), (63, 63, 1), (100, 64, 2), (2000, 64, 32)])
def test_other_numbers_are_dealt_out(flows: int, hosts: int, most: int) -> None:
    per_host = Counter(made(Incast(pattern="incast", flows=flows)).src)
    assert len(per_host) == hosts
    assert set(per_host.values()) <= {most, most - 1}


def test_names_of_hosts_and_staggered_starts() -> None:
    settings = ("traffic.senders=2", "traffic.flows_per_sender=2", "traffic.stagger=1 ms")
    flows = load("incast-8").apply(settings).experiment
    assert [(flow.src, flow.dst, round(flow.start, 9)) for flow in flows.traffic.expand(flows.context)] == [
        ("h1", "h3", 0.0),
        ("h2", "h3", 0.001),
        ("h1", "h3", 0.002),
        ("h2", "h3", 0.003),
    ]
