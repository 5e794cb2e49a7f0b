"""Keys that can change while a run goes on, and the words for those that cannot."""

from __future__ import annotations

import re

import pytest

from testbed.errors import BadInput
from testbed.experiment.changes import Alpha, Change, OfLink, Option, Threshold, Weight
from testbed.experiment.edits import Edits
from testbed.experiment.events import Value
from testbed.runs.overrides import resolve

SWITCH = (
    "rack.switch.classes={bulk: {dscp: 8, queue: 1}, rdma: {dscp: 3, queue: 3}, cnp: {dscp: 48, queue: 7}}",
    "rack.switch.queues={1: {weight: 2, alpha: 2}, 3: {static: 1 MB}, 7: {schedule: strict}}",
    "rack.switch.groups={3: {alpha: 0.5}}",
    "rack.switch.pool={size: 4 MB}",
    "engine=virtual",
)


def edits(*settings: str, controller: str = "dcqcn") -> Edits:
    return Edits(resolve("incast-2", {"controller": controller, "tuner": ""}, {}, settings))


def read(key: str, value: Value, *settings: str) -> Change:
    (found,) = edits(*settings).read({key: value})
    return found


@pytest.mark.parametrize(
    ("key", "value", "change"),
    [
        ("kmin", "10 kB", Threshold("kmin", tuple(range(9)), 10e3)),
        ("q3.kmax", "10 kB", Threshold("kmax", (1, 4, 7), 10e3)),
        ("s1-eth2.pmax", "5 %", Threshold("pmax", (3, 4, 5), 0.05)),
        ("s1-eth2.q7.kmin", "1 MB", Threshold("kmin", (5,), 1e6)),
        ("s1.q1.kmin", "1 MB", Threshold("kmin", (0, 3, 6), 1e6)),
        ("q1.weight", 3, Weight(1, 3)),
        ("q1.alpha", 0.25, Alpha(False, 1, (0, 1, 2), 0.25)),
        ("s1-eth2.g3.alpha", 4, Alpha(True, 3, (1,), 4.0)),
        ("s1-h2.loss", "1 %", OfLink("h2-s1", "loss", 0.01)),
    ],
)
def test_where_a_key_leads(key: str, value: Value, change: Change) -> None:
    assert read(key, value, *SWITCH) == change


def test_options_of_a_controller_change_together_and_stay() -> None:
    one = edits()
    (change,) = one.read({"controller.g": 0.1, "controller.min_decrease": 0.1})
    assert isinstance(change, Option)
    told = change.config.model_dump()
    assert (change.decider, told["g"], told["min_decrease"]) == (0, 0.1, 0.1)
    one.configs[0] = change.config
    (later,) = one.read({"controller.g": 0.2})
    assert isinstance(later, Option)
    assert later.config.model_dump() == {**told, "g": 0.2}


@pytest.mark.parametrize(
    ("key", "value", "says"),
    [
        ("kmin", 5, "kmin: 5 has no unit"),
        ("weight", 5, "weight: the queues are q1, q3, q7"),
        ("q2.weight", 5, "q2.weight: the queues are q1, q3, q7"),
        ("q7.weight", 5, "q7.weight: a 'strict' queue has no weight"),
        ("s1-eth1.q1.weight", 5, "s1-eth1.q1.weight: a weight is of a queue at all ports; say q1.weight"),
        ("q3.alpha", 5, "q3.alpha: what has an alpha: q1, q7, g3"),
        ("s2.kmin", "5 kB", "s2.kmin: no switch or port is named 's2'; allowed: s1"),
        ("s1.eth1.kmin", "5 kB", "s1.eth1.kmin: no switch or port is named 's1.eth1'"),
        ("h1-h2.loss", "5 %", "h1-h2.loss: no link is named 'h1-h2'; did you mean 'h1-s1'"),
        ("controller.gg", 5, "controller.gg: 'dcqcn' has no such option that can change; did you mean 'g'"),
        ("controller.window", "none", "controller.window: 'dcqcn' has no such option that can change"),
        ("controller.g", 5, "controller 'dcqcn', option 'g'"),
        ("controllers.0.g", 5, "'controllers.0.g' cannot change while a run goes on; what can: kmin, kmax, pmax (of a"),
        ("seed", 5, "loss of a link (h1-s1.loss), delay of a link (h1-s1.delay), controller."),
    ],
)
def test_what_cannot_change_is_refused_with_what_can(key: str, value: Value, says: str) -> None:
    with pytest.raises(BadInput) as caught:
        read(key, value, *SWITCH)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_ports_of_one_queue_have_no_numbers() -> None:
    assert read("s1-eth2.kmin", "5 kB") == Threshold("kmin", (1,), 5e3)
    with pytest.raises(BadInput, match=r"q3\.kmin: a port has one queue here"):
        read("q3.kmin", "5 kB")
    with pytest.raises(BadInput, match=r"q3\.alpha: nothing has an alpha here"):
        read("q3.alpha", 1)


FABRIC = ("rack={kind: leaf-spine, leaves: 2, spines: 1, hosts_per_leaf: 2}", "engine=virtual")


def test_rates_of_links_between_switches() -> None:
    assert read("spine1-leaf1.rate", "25 Gbit/s", *FABRIC) == OfLink("leaf1-spine1", "rate", 25e9)
    for key, value, says, more in (
        (
            "h1-leaf1.rate",
            "25 Gbit/s",
            "the rate of a link between switches can change; senders know that of a host's",
            (),
        ),
        ("leaf1-spine1.rate", "25", "'25' has no unit", ()),
        ("leaf1-spine1.rate", "200 Gbit/s", "expected 1 Gbit/s to 100 Gbit/s, as it was built", ()),
        (
            "leaf1-spine1.rate",
            "25 Gbit/s",
            "with PFC a rate cannot change, so far",
            ("rack.switch.pfc={xoff: 100 kB}",),
        ),
    ):
        with pytest.raises(BadInput, match=re.escape(f"{key}: {says}")):
            read(key, value, *FABRIC, *more)


def test_delays_of_all_links_on_the_virtual_engine() -> None:
    assert read("h1-leaf1.delay", "5 us", *FABRIC) == OfLink("h1-leaf1", "delay", 5e-6)
    with pytest.raises(BadInput, match="a delay can change on the virtual engine"):
        read("h1-leaf1.delay", "5 us", FABRIC[0])
    with pytest.raises(BadInput, match="with PFC a delay cannot change, so far"):
        read("h1-leaf1.delay", "5 us", *FABRIC, "rack.switch.pfc={xoff: 100 kB}")
