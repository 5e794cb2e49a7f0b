"""Three tiers, held against the closed forms of Al-Fares et al., without building them."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from testbed.errors import BadInput
from testbed.experiment.load import load
from testbed.experiment.topology.kinds import shape_of
from testbed.experiment.topology.routes import Routes
from testbed.experiment.topology.shape import LONGEST_NAME, Shape
from tests.support.ways import paths


def clos(engine: str = "virtual", **settings: Any) -> Shape:
    rack = {"kind": "clos", **settings}
    return shape_of(load("leaf-spine").apply([f"rack={rack}", f"engine={engine}"]).experiment.rack, 0)


@pytest.mark.parametrize(("k", "hosts"), [(4, 16), (8, 128), (16, 1024), (32, 8192)])
def test_a_k_ary_tree_has_its_hosts_switches_and_paths(k: int, hosts: int) -> None:
    shape = clos(k=k)
    assert len(shape.hosts) == k**3 // 4 == hosts
    assert len(shape.switches) == 5 * k**2 // 4
    assert Counter(Counter(port.switch for port in shape.ports).values()) == {k: 5 * k**2 // 4}  # all have k ports
    assert max(len(port.name) for port in shape.ports) <= LONGEST_NAME
    assert len({shape.address(host) for host in shape.hosts}) == hosts
    routes, half = Routes(shape), k // 2
    assert routes.most_hops == 5
    assert paths(routes, "h1", "h2") == 1
    assert paths(routes, "h1", f"h{half + 1}") == half  # of the same pod
    assert paths(routes, "h1", f"h{hosts}") == half**2
    assert routes.longest_delay == pytest.approx(6 * 2e-6)


def test_what_enters_the_core_is_half_of_what_hosts_send_at_two_to_one() -> None:
    shape = clos(k=8, hosts_per_tor=6, oversubscription={"tor": 1.5, "pod": 2})
    up = {tier: sum(link.rate for link in shape.trunks if link.low.node.startswith(tier)) for tier in ("tor", "agg")}
    hosts = sum(shape.line_rate(host) for host in shape.hosts)
    assert up["tor"] == pytest.approx(hosts / 1.5)
    assert up["agg"] == pytest.approx(hosts / 3)


def test_parallel_links_are_paths_of_their_own() -> None:
    shape = clos(k=4, parallel=2)
    assert paths(Routes(shape), "h1", "h16") == 4 * 2**4  # four links between switches, two of each
    assert shape.find("tor1-agg1").rate == pytest.approx(50e9)
    assert sorted(port.number for port in shape.ports if port.switch == "core1") == list(range(1, 9))


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"k": 5}, "rack.k"),
        ({"k": 66}, "makes a rack of 71874 hosts, at most 65535"),
        ({"k": 2, "pods": 5000}, "makes a rack of 10,001 switches, at most 4,095"),
        ({"k": 40, "parallel": 100}, "links between switches, at most"),
    ],
)
def test_what_is_too_large_is_refused_before_it_is_made(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(BadInput, match=said):
        clos(**settings)


def test_a_kernel_takes_255_switches() -> None:
    with pytest.raises(BadInput, match="320 switches, at most 255 are possible with engine 'kernel'; say --engine vir"):
        clos("kernel", k=16, hosts_per_tor=2)
