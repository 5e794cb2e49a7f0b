"""Events: which links, and when."""

from __future__ import annotations

from testbed.experiment.events import EventSpec, Step, Timetable, plan
from testbed.experiment.topology.kinds import shape_of
from testbed.experiment.topology.settings import LeafSpine

SHAPE = shape_of(LeafSpine(kind="leaf-spine", leaves=12, spines=6, hosts_per_leaf=1), 12)


def happening(*events: dict[str, str], seed: int = 1) -> list[Step]:
    return plan([EventSpec.model_validate(event) for event in events], SHAPE, seed, 1.0)


def test_a_tenth_of_the_links_fails_and_comes_back() -> None:
    events = {"at": "3 ms", "cut": "10 %"}, {"at": "6 ms", "mend": "all"}
    cut, _, mend, _ = happening(*events)
    assert (cut.at, cut.verb, len(set(cut.links))) == (3e-3, "cut", 7)  # of 72
    assert (mend.at, mend.verb, mend.links) == (6e-3, "mend", cut.links)
    assert happening(*events)[::2] == [cut, mend]
    assert happening(*events, seed=2)[0].links != cut.links


def test_links_by_name_in_order_of_time() -> None:
    steps = happening({"at": "2 ms", "mend": "spine1-leaf2"}, {"at": "1 ms", "cut": "leaf2-spine1"})
    link = ("leaf2-spine1",)
    assert steps == [
        Step(at, verb, link) for at in (1e-3, 2e-3) for verb in ("cut" if at < 2e-3 else "mend", "reroute")
    ]


def test_switches_notice_later() -> None:
    steps = happening(
        {"at": "1 ms", "cut": "leaf1-spine1", "detected_after": "500 us"}, {"at": "1.2 ms", "cut": "leaf1-spine2"}
    )
    assert [(step.at, step.verb, step.links[0][-1]) for step in steps] == [
        (1e-3, "cut", "1"),
        (1.2e-3, "cut", "2"),
        (1.2e-3, "reroute", "2"),
        (1.5e-3, "reroute", "1"),
    ]


def test_events_happen_when_they_are_due() -> None:
    seen: list[str] = []
    steps = [Step(1.0, "cut", ("a", "b")), Step(1.25, "reroute", ("a", "b")), Step(2.0, "mend", ("a",))]
    timetable = Timetable(
        steps,
        cut=lambda link: seen.append(f"cut {link}"),
        mend=lambda link: seen.append(f"mend {link}"),
        reroute=lambda links: seen.append(f"around {' '.join(links)}"),
    )
    timetable.step(0.5)
    assert (timetable.next, seen) == (1.0, [])
    timetable.step(1.25)
    assert (timetable.next, seen) == (2.0, ["cut a", "cut b", "around a b"])
    timetable.step(2.0)
    timetable.step(3.0)
    assert seen == ["cut a", "cut b", "around a b", "mend a"]
    assert [(event.time, event.what) for event in timetable.done] == [(1.25, "cut a, b"), (2.0, "mend a")]
