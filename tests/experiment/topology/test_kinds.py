"""The kinds of racks that experiments ask for, without building them."""

from __future__ import annotations

import pytest

from testbed.experiment.load import load
from testbed.experiment.topology.kinds import shape_of
from testbed.experiment.topology.shape import LONGEST_NAME


def test_pet_has_288_hosts_and_18_switches() -> None:
    experiment = load("pet-288").experiment
    shape = shape_of(experiment.rack, experiment.hosts)
    assert (len(shape.hosts), len(shape.switches), len(shape.trunks)) == (288, 18, 72)
    assert {link.rate for link in shape.trunks} == {100e9}
    assert shape.line_rate("h288") == 25e9
    assert max(len(port.name) for port in shape.ports) <= LONGEST_NAME
    assert len({shape.address(host) for host in shape.hosts}) == 288


def test_a_fat_tree_does_not_block() -> None:
    """DECC's: 4 ToRs with 16 hosts each; what the hosts of a ToR can send, its uplinks carry."""
    rack = load("leaf-spine").apply(["rack={kind: fat-tree}"]).experiment.rack
    shape = shape_of(rack, 64)
    assert (len(shape.hosts), len(shape.switches)) == (64, 8)
    uplinks = [link for link in shape.trunks if link.low.node == "tor1"]
    assert sum(link.rate for link in uplinks) == pytest.approx(16 * shape.line_rate("h1"))
