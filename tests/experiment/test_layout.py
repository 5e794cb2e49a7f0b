"""What is derived of rack and traffic, against values by hand."""

from __future__ import annotations

import pytest

from testbed.experiment.layout import Layout
from testbed.experiment.load import load


def layout(name: str) -> Layout:
    return Layout(load(name).experiment)


def test_the_bottleneck_of_an_incast_is_the_receivers_port() -> None:
    one = layout("incast-8")
    assert one.port_names[one.bottleneck] == "s1-eth9"
    assert (one.most_hops, len(one.plan)) == (1, 8)


def test_a_controller_knows_of_its_own_flows() -> None:
    one = layout("leaf-spine")
    assert one.most_hops == 3
    paths = one.controller_paths(slice(0, 3))  # of h1, h2 and the flow of h3 to the other leaf
    assert paths.hops.tolist() == [3, 3, 3]
    assert paths.line_rate.tolist() == [25e9] * 3
    assert paths.payload == 1000


def test_endless_flows_start_within_a_base_rtt_by_the_seed() -> None:
    one = layout("incast-8")
    assert (one.start >= 0).all()
    assert (one.start < one.paths.base_rtt).all()
    assert len(set(one.start)) == 8
    assert (layout("incast-8").start == one.start).all()
    assert (Layout(load("incast-8").apply(["seed=2"]).experiment).start != one.start).all()


def test_others_start_as_planned() -> None:
    one = layout("websearch")
    assert (one.start == one.plan.start).all()


def test_int_makes_packets_larger_and_nothing_else() -> None:
    one = layout("leaf-spine")
    three = one.with_int(3)
    assert three.framing.wire_size - one.framing.wire_size == 16 + 3 * 28  # the headers, and a record per hop
    assert three.shape == one.shape


def test_each_switch_has_a_tuner_of_its_own_ports() -> None:
    ports = layout("leaf-spine").tuner_ports()
    assert [one.switch for one in ports] == ["leaf1", "leaf2", "spine1", "spine2"]
    assert ports[0].rate.tolist() == [25e9] * 4 + [100e9] * 2
    assert ports[2].base_rtt == pytest.approx(2 * 4e-6)  # four links of 1 us there, four back


def test_the_retransmission_timeout_is_three_of_the_longest_rtts_unless_it_is_configured() -> None:
    full = 5e6 * 8 / 100e9  # s that a full buffer takes at the one port
    assert layout("incast-8").retransmission_timeout(5e6) == pytest.approx(3 * (8.18496e-6 + full))
    chosen = Layout(load("incast-8").apply(["transport.timeout=2 ms"]).experiment)
    assert chosen.retransmission_timeout(5e6) == 2e-3
