"""PFC deadlocks: cyclic buffer dependencies are found in routings that have one, and in none of the shipped racks."""

from __future__ import annotations

from itertools import pairwise

import pytest

from testbed.errors import BadInput
from testbed.experiment import model
from testbed.experiment.deadlock import cycle, dependencies, possible
from testbed.experiment.events import EventSpec, plan
from testbed.experiment.load import available, load
from testbed.experiment.topology.kinds import shape_of
from testbed.experiment.topology.routes import Routes
from testbed.experiment.topology.shape import End, Link, LinkKind, Shape, dumbbell, two_level
from testbed.experiment.topology.tables import Hops, Tables

REFUSED = "PFC deadlock possible, cyclic buffer dependency: "
LINK, TRUNK = LinkKind("link", 25e9, 1e-6, buffer=5e6), LinkKind("uplink", 100e9, 1e-6, buffer=5e6)


def ring(switches: int) -> Shape:
    """Switches in a circle, each with one host at its port 1; port 2 leads on, port 3 back."""
    names = [f"s{number + 1}" for number in range(switches)]
    hosts = [LINK.between(End(f"h{number + 1}", 0), End(name, 1)) for number, name in enumerate(names)]
    trunks: list[Link] = [
        TRUNK.between(End(name, 2), End(names[(number + 1) % switches], 3)) for number, name in enumerate(names)
    ]
    return Shape("ring", tuple(names), (*hosts, *trunks))


def fabric(leaves: int = 4, spines: int = 4) -> Shape:
    lower = [f"leaf{number + 1}" for number in range(leaves)]
    upper = [f"spine{number + 1}" for number in range(spines)]
    return two_level("leaf-spine", lower, upper, hosts=1, link=LINK, trunk=TRUNK)


class Eager(Tables):
    """Switches that take any shortest path that is left, also down and up again: what ours do not."""

    def next_hops(self, routes: Routes) -> Hops:
        return {switch: {edge: routes.next_hops(switch, edge) for edge in ways} for switch, ways in self.hops.items()}


@pytest.mark.parametrize("name", available())
def test_no_shipped_rack_has_a_cycle(name: str) -> None:
    one = load(name).experiment
    assert possible(Tables(shape_of(one.rack, one.hosts)), one.steps()) == ""


def test_a_ring_has_one_and_its_ports_are_named() -> None:
    graph = dependencies(Tables(ring(4)).hops)
    assert graph["s1-eth2"] == {"s2-eth2"}  # to s3; what goes to s2 waits for its host only
    found = possible(Tables(ring(4)))
    ports = found.removeprefix(REFUSED).split(" -> ")
    assert ports[0] == ports[-1]
    assert set(ports) in ({f"s{n}-eth2" for n in range(1, 5)}, {f"s{n}-eth3" for n in range(1, 5)})
    assert all(after in graph[before] for before, after in pairwise(ports))
    assert possible(Tables(ring(3))) == ""  # nobody passes through


def test_up_and_then_down_has_none() -> None:
    graph = dependencies(Tables(fabric()).hops)
    assert graph["leaf1-eth2"] == {"spine1-eth2", "spine1-eth3", "spine1-eth4"}
    assert graph["spine1-eth2"] == set()
    assert cycle(graph) == []
    assert possible(Tables(dumbbell(2, 2, LINK, TRUNK))) == ""


def test_a_rerouting_by_hand_that_has_one() -> None:
    """leaf1 leads packets for leaf2 through spine2 and leaf3, which sends them up again, and the others alike."""
    tables = Tables(fabric(3, 3))
    port = {one.name: one for one in tables.shape.ports}
    for here, far in ((1, 2), (2, 3), (3, 1)):
        last = 6 - here - far
        # from leaf `here` to leaf `far` by way of leaf `last`; spine N is at port N + 1 of every leaf
        tables.hops[f"leaf{here}"][f"leaf{far}"] = [port[f"leaf{here}-eth{here + 1}"]]
        tables.hops[f"spine{here}"][f"leaf{far}"] = [port[f"spine{here}-eth{last}"]]
        tables.hops[f"leaf{last}"][f"leaf{far}"] = [port[f"leaf{last}-eth{last + 1}"]]
    assert "leaf1-eth2" in possible(tables)
    assert "spine1-eth3" in possible(tables)


def test_routes_after_events_are_checked() -> None:
    """Of 4 x 4 links those of a ring are left: leaf1 - spine1 - leaf2 - spine2 - ... - leaf1."""
    shape = fabric()
    left = {f"leaf{n}-spine{n}" for n in range(1, 5)} | {f"leaf{n % 4 + 1}-spine{n}" for n in range(1, 5)}
    down = [f"{link.low.node}-{link.high.node}" for link in shape.trunks]
    steps = plan(
        [
            EventSpec.model_validate({"at": "1 ms", "down": name, "detected_after": "10 us"})
            for name in down
            if name not in left
        ],
        shape, 1, 1.0,
    )  # fmt: skip
    assert possible(Tables(shape), steps) == ""  # ours stay where they are, and lose the packets
    found = possible(Eager(shape), steps)
    assert found.startswith(REFUSED)
    assert found.endswith(", with the routes from 1.01 ms on")


def test_an_experiment_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """None can ask for such a rack yet, so one is put in its place."""
    victim = load("victim")
    monkeypatch.setattr(model, "shape_of", lambda *_: ring(8))
    victim.apply(["rack.switch.pfc=off"])
    with pytest.raises(BadInput, match=f"rack.switch.pfc: {REFUSED}s1-eth2 -> s2-eth2"):
        _ = victim.apply(["rack.switch.pfc=on"]).experiment
