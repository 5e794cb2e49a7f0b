"""Events: which links, and when."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from testbed.errors import BadInput
from testbed.experiment.events import EventSchedule, EventSpec, Step, Value, plan
from testbed.experiment.topology.kinds import shape_of
from testbed.experiment.topology.settings import LeafSpine

SHAPE = shape_of(LeafSpine(kind="leaf-spine", leaves=12, spines=6, hosts_per_leaf=1), 12)


def happening(*events: dict[str, object], seed: int = 1) -> list[Step]:
    return plan([EventSpec.model_validate(event) for event in events], SHAPE, seed, 1.0)


def test_a_tenth_of_the_links_fails_and_comes_back() -> None:
    events = {"at": "3 ms", "down": "10 %"}, {"at": "6 ms", "up": "all"}
    down, _, up, _ = happening(*events)
    assert (down.at, down.verb, len(set(down.links))) == (3e-3, "down", 7)  # of 72
    assert (up.at, up.verb, up.links) == (6e-3, "up", down.links)
    assert happening(*events)[::2] == [down, up]
    assert happening(*events, seed=2)[0].links != down.links


def test_links_by_name_in_order_of_time() -> None:
    steps = happening({"at": "2 ms", "up": "spine1-leaf2"}, {"at": "1 ms", "down": "leaf2-spine1"})
    link = ("leaf2-spine1",)
    assert steps == [Step(at, verb, link) for at in (1e-3, 2e-3) for verb in ("down" if at < 2e-3 else "up", "reroute")]


def test_whoever_has_no_path_left_is_named() -> None:
    """Leaf 1 has one uplink left, and at the other end of its spine leaf 2 is gone; a longer way is none."""
    links = [*(f"leaf1-spine{number}" for number in range(2, 7)), "leaf2-spine1"]
    steps = happening(
        *({"at": f"{at} ms", "down": link} for at, link in enumerate(links, start=1)), {"at": "9 ms", "up": "all"}
    )
    downs = [step for step in steps if step.verb == "down"]
    assert [step.cut_off for step in downs] == [()] * 5 + [(("leaf1", "leaf2"),)]
    assert downs[-1].said == "link down leaf2-spine1; no path from leaf1 to leaf2"
    assert steps[-2].cut_off == ()
    last = happening(*({"at": "1 ms", "down": f"leaf1-spine{number}"} for number in range(1, 7)))[-2]
    assert last.said == "link down leaf1-spine6; no path from leaf1 to leaf10 and of 10 other pairs"


def test_switches_notice_later() -> None:
    steps = happening(
        {"at": "1 ms", "down": "leaf1-spine1", "detected_after": "500 us"}, {"at": "1.2 ms", "down": "leaf1-spine2"}
    )
    assert [(step.at, step.verb, step.links[0][-1]) for step in steps] == [
        (1e-3, "down", "1"),
        (1.2e-3, "down", "2"),
        (1.2e-3, "reroute", "2"),
        (1.5e-3, "reroute", "1"),
    ]


class Rack:
    """Writes down what events do to it."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def link_down(self, name: str) -> None:
        self.seen.append(f"down {name}")

    def link_up(self, name: str) -> None:
        self.seen.append(f"up {name}")

    def reroute(self, links: Sequence[str]) -> None:
        self.seen.append(f"around {' '.join(links)}")

    def change(self, settings: Mapping[str, Value]) -> None:
        if "kmin" not in settings:
            raise BadInput("it has kmin only")
        self.seen.append(f"kmin {settings['kmin']}")


def test_events_happen_when_they_are_due() -> None:
    rack = Rack()
    steps = [Step(1.0, "down", ("a", "b")), Step(1.25, "reroute", ("a", "b")), Step(2.0, "up", ("a",))]
    schedule = EventSchedule(steps, rack)
    schedule.step(0.5)
    assert (schedule.next, rack.seen) == (1.0, [])
    schedule.step(1.25)
    assert (schedule.next, rack.seen) == (2.0, ["down a", "down b", "around a b"])
    schedule.step(2.0)
    schedule.step(3.0)
    assert rack.seen == ["down a", "down b", "around a b", "up a"]
    assert [(event.time, event.what) for event in schedule.done] == [(1.25, "link down a, b"), (2.0, "link up a")]


def test_settings_change_and_what_cannot_is_told() -> None:
    rack = Rack()
    settings = {"kmin": "1 kB"}, {"kmax": "1 kB"}, {"kmin": "5 kB"}
    specs = [
        EventSpec.model_validate({"at": at, "set": one})
        for at, one in zip(("0", "2 ms", "1 ms"), settings, strict=True)
    ]
    schedule = EventSchedule(plan(specs[:2], SHAPE, 1, 1.0), rack)
    schedule.step(0.0)
    schedule.add(specs[2], plan(specs, SHAPE, 1, 1.0))
    assert schedule.next == 1e-3
    schedule.step(3e-3)
    assert rack.seen == ["kmin 1 kB", "kmin 5 kB"]
    assert [one.what for one in schedule.done[1:]] == ["set kmin=5 kB", "set kmax=1 kB: refused, it has kmin only"]
    assert schedule.added == specs[2:]
