"""Events: which cables, and when."""

from __future__ import annotations

from testbed.events import EventSpec, Step, Timetable, plan
from testbed.rack.kinds import shape_of
from testbed.rack.settings import LeafSpine

SHAPE = shape_of(LeafSpine(kind="leaf-spine", leaves=12, spines=6, hosts_per_leaf=1), 12)


def happening(*events: dict[str, str], seed: int = 1) -> list[Step]:
    return plan([EventSpec.model_validate(event) for event in events], SHAPE, seed, 1.0)


def test_a_tenth_of_the_cables_fails_and_comes_back() -> None:
    events = {"at": "3 ms", "cut": "10 %"}, {"at": "6 ms", "mend": "all"}
    cut, mend = happening(*events)
    assert (cut.at, cut.verb, len(set(cut.cables))) == (3e-3, "cut", 7)  # of 72
    assert (mend.at, mend.verb, mend.cables) == (6e-3, "mend", cut.cables)
    assert happening(*events) == [cut, mend]
    assert happening(*events, seed=2)[0].cables != cut.cables


def test_cables_by_name_in_order_of_time() -> None:
    steps = happening({"at": "2 ms", "mend": "spine1-leaf2"}, {"at": "1 ms", "cut": "leaf2-spine1"})
    assert steps == [Step(1e-3, "cut", ("leaf2-spine1",)), Step(2e-3, "mend", ("leaf2-spine1",))]


def test_events_happen_when_they_are_due() -> None:
    seen: list[str] = []
    steps = [Step(1.0, "cut", ("a", "b")), Step(2.0, "mend", ("a",))]
    timetable = Timetable(steps, lambda cable: seen.append(f"cut {cable}"), lambda cable: seen.append(f"mend {cable}"))
    timetable.step(0.5)
    assert (timetable.next, seen) == (1.0, [])
    timetable.step(1.25)
    assert (timetable.next, seen) == (2.0, ["cut a", "cut b"])
    timetable.step(2.0)
    timetable.step(3.0)
    assert seen == ["cut a", "cut b", "mend a"]
    assert [(event.time, event.what) for event in timetable.done] == [(1.25, "cut a, b"), (2.0, "mend a")]
