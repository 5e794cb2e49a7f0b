"""Routing tables while links fail and come back: switches use them until they detect it."""

from __future__ import annotations

import pytest

from testbed.experiment.topology.tables import Tables
from tests.support.shapes import leaf_spine


def spines(tables: Tables) -> list[str]:
    return [port.neighbour for port in tables.hops["leaf1"]["leaf3"]]


def test_a_failed_link_is_used_until_switches_detect_it() -> None:
    tables = Tables(leaf_spine())
    tables.link_down("leaf3-spine2")
    assert spines(tables) == ["spine1", "spine2"]
    changed = tables.reroute(["leaf3-spine2"])
    assert spines(tables) == ["spine1"]
    there = {switch: set(ways) for switch, ways in changed.items()}
    assert there == {"leaf1": {"leaf3"}, "leaf2": {"leaf3"}, "leaf3": {"leaf1", "leaf2"}}
    tables.link_up("spine2-leaf3")
    assert spines(tables) == ["spine1"]
    tables.reroute(["leaf3-spine2"])
    assert spines(tables) == ["spine1", "spine2"]


def test_a_spine_never_sends_packets_up_again() -> None:
    """Its only shortest path is gone, and a longer one leads through another leaf: it keeps what it has."""
    tables = Tables(leaf_spine())
    before = tables.hops["spine2"]["leaf3"]
    tables.link_down("leaf3-spine2")
    tables.reroute(["leaf3-spine2"])
    assert tables.hops["spine2"]["leaf3"] == before


def test_what_is_no_link_cannot_be_taken_down() -> None:
    with pytest.raises(KeyError):
        Tables(leaf_spine()).link_down("leaf1-leaf2")


def test_the_link_of_a_host_changes_no_route() -> None:
    tables = Tables(leaf_spine())
    tables.link_down("h1-leaf1")
    assert tables.reroute(["h1-leaf1"]) == {}
    assert tables.cut_off() == []
    tables.link_up("leaf1-h1")
    assert not tables.down
