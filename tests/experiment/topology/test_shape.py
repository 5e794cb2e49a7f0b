"""Shapes of racks without building them: their switches, ports and links."""

from __future__ import annotations

from testbed.experiment.topology.shape import LinkKind, star
from tests.support.shapes import leaf_spine


def test_ports_are_listed_switch_by_switch() -> None:
    names = [port.name for port in leaf_spine(2, 2, 2).ports]
    assert names[:4] == ["leaf1-eth1", "leaf1-eth2", "leaf1-eth3", "leaf1-eth4"]
    assert names[4:] == [
        f"{switch}-eth{n}"
        for switch, ports in (("leaf2", 4), ("spine1", 2), ("spine2", 2))
        for n in range(1, ports + 1)
    ]
    assert [port.name for port in star(3, LinkKind("link", 1e9, 0.0)).ports] == ["s1-eth1", "s1-eth2", "s1-eth3"]


def test_every_port_knows_what_is_at_the_other_end() -> None:
    shape = leaf_spine()
    neighbour = {port.name: port.neighbour for port in shape.ports}
    assert (neighbour["leaf2-eth1"], neighbour["leaf2-eth6"], neighbour["spine2-eth3"]) == ("h5", "spine2", "leaf3")
    for port in shape.ports:
        if not port.to_host:
            assert shape.ports[shape.position[port.peer.interface]].peer.interface == port.name
    assert [shape.edge(host) for host in ("h1", "h4", "h5", "h12")] == ["leaf1", "leaf1", "leaf2", "leaf3"]
