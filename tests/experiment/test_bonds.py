"""Which NICs flows of bonded hosts take, and what becomes of them when a link fails."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from testbed.errors import BadInput
from testbed.experiment.load import load
from testbed.experiment.model import Experiment
from testbed.experiment.topology.routes import Routes

RACK = """\
rack:
  kind: custom
  nodes: [{name: a, bond: true}, c, {name: b, bond: true}, s1, s2, spine]
  links: [{ends: [a, s1]}, {ends: [a, s2]}, {ends: [b, s1]}, {ends: [b, s2]}, {ends: [c, s2]}, {ends: [s1, spine]},
          {ends: [s2, spine]}]
traffic: {pattern: incast, senders: 2, flows_per_sender: 200}
controller: swift
"""


def bonded(folder: Path, *settings: str, rack: str = RACK) -> Experiment:
    file = folder / "bonds.yaml"
    file.write_text(rack)
    return load(str(file)).apply(settings).experiment


def test_traffic_knows_hosts_and_flows_take_nics(tmp_path: Path) -> None:
    """A flow leaves by one of its sender's, by chance, and comes in at the nearest of its receiver's."""
    one = bonded(tmp_path)
    assert (one.hosts, len(one.shape.hosts)) == (3, 5)
    assert one.shape.bonds == {"h1": ("h1", "h4"), "h3": ("h3", "h5")}
    assert {*one.between_hosts.src} == {"h1", "h2"}
    ways = [pair for pair in zip(one.plan.src, one.plan.dst, strict=True) if pair[0] != "h2"]
    assert {*ways} == {("h1", "h3"), ("h4", "h5")}
    assert 70 < ways.count(("h1", "h3")) < 130
    assert {dst for src, dst in zip(one.plan.src, one.plan.dst, strict=True) if src == "h2"} == {"h5"}
    assert {Routes(one.shape).hops(*pair) for pair in ways} == {1}


def test_flows_of_a_nic_that_fails_take_the_others_and_come_back(tmp_path: Path) -> None:
    one = bonded(tmp_path)
    assert one.bonds
    without = one.bonds.placed({"h5"})
    assert {*zip(without.src, without.dst, strict=True)} == {("h1", "h3"), ("h4", "h3"), ("h2", "h3")}
    assert without.src == one.plan.src
    moved = one.bonds.placed({"h1"})
    assert {*moved.src} == {"h4", "h2"}
    assert one.bonds.placed(set()).src == one.plan.src
    assert one.bonds.placed({"h1", "h4"}).src == one.plan.src  # nothing is left to take


def test_flows_of_a_queue_pair_stay_together(tmp_path: Path) -> None:
    one = bonded(tmp_path, "engine=virtual", "queue_pairs=per-pair")
    ends = {*zip(one.between_hosts.pair.tolist(), one.plan.src, one.plan.dst, strict=True)}
    assert len(ends) == len(np.unique(one.between_hosts.pair))


@pytest.mark.parametrize(
    ("before", "after", "says"),
    [
        ("{ends: [a, s2]}", "{ends: [a, s2], rate: 25 Gbit/s}", "'a' has a bond of links whose rates or delays differ"),
        ("c, {name: b, bond: true}", "{name: x, bond: true}, b", "'x' has a bond, which needs"),
        ("{name: a, bond: true}", "{name: a, bond: true, role: switch}", "'a' is a switch, which has no bond"),
        ("controller: swift", "controller: swift\nreceiver: eqds", "receiver: grants to NICs"),
    ],
)
def test_what_makes_no_bond_is_refused(tmp_path: Path, before: str, after: str, says: str) -> None:
    with pytest.raises(BadInput) as caught:
        bonded(tmp_path, rack=RACK.replace(before, after))
    assert says in str(caught.value)
