"""Base RTTs computed by hand, and netem's share of them."""

from __future__ import annotations

from itertools import permutations

import pytest

from testbed.experiment.topology.framing import Framing
from testbed.experiment.topology.paths import FlowPaths, PathTimes, netem_delay
from testbed.experiment.topology.routes import Routes
from testbed.experiment.topology.shape import LinkKind, star
from tests.support.shapes import leaf_spine

FRAMING = Framing(1000)  # 1078 B, ACKs of 78 B


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


def test_without_flows_there_are_no_paths() -> None:
    assert len(FlowPaths.of(Routes(leaf_spine()), [], [], FRAMING).hops) == 0


def test_the_published_star_has_an_rtt_of_8_us_and_serialisation() -> None:
    routes = Routes(star(3, LinkKind("link", 100e9, 2e-6)))
    assert PathTimes(routes.path("h1", "h3"), FRAMING).base_rtt == pytest.approx(8e-6 + 2 * (1078 + 78) * 8 / 100e9)


def test_netem_delays_add_up_to_the_base_rtt() -> None:
    """Data out of its host and through the switches' ports, and the ACK back."""
    routes = Routes(leaf_spine())
    for dst in ("h2", "h12"):
        links = routes.path("h1", dst)
        trunks = [netem_delay(link, FRAMING) for link in links[1:-1]]
        there, back = netem_delay(links[0], FRAMING), netem_delay(links[-1], FRAMING)
        assert there + back + 2 * sum(trunks) == pytest.approx(PathTimes(links, FRAMING).base_rtt)


def test_columns_are_what_single_paths_have() -> None:
    """Rounded times to the bit, by which flows are alike."""
    routes = Routes(leaf_spine())
    pairs = list(permutations(routes.shape.hosts, 2))
    src, dst = map(list, zip(*pairs, strict=True))
    columns, paths = FlowPaths.of(routes, src, dst, FRAMING), [PathTimes(routes.path(*pair), FRAMING) for pair in pairs]
    for name in ("base_rtt", "src_rtt", "hops"):
        assert getattr(columns, name).tolist() == [getattr(path, name) for path in paths]
    assert columns.one_way == pytest.approx([path.one_way for path in paths], rel=1e-14)
    assert columns.line_rate.tolist() == [path.links[0].rate for path in paths]
    assert columns.path_rate.tolist() == [min(link.rate for link in path.links) for path in paths]
    assert columns.slowness == pytest.approx([sum(1 / link.rate for link in path.links[1:]) for path in paths])
