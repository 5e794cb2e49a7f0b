"""What a reader gets of a plan: lines, JSON, a page; and cases that cannot be run are never passed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from testbed.runs.plans import answer
from testbed.runs.plans.case import Case, Expectation, TestPlan, Trial, none
from testbed.runs.plans.follow import Finding, Outcome, examine
from testbed.runs.plans.rack import experiment, flow
from testbed.runs.plans.switch import Switch

HELD = Expectation("held", lambda _seen: 1.0, most=2, unit=" us", breaks=["seed=2"])
FAILED = Expectation("<failed>", lambda _seen: float("nan"), most=2, breaks=["seed=2"])
NOTED = Expectation("noted", lambda _seen: 7.0)
OWN = Switch.own(100e9)
CASE = Case("1", "a case")
PLAN = TestPlan("mine", "My plan", "nowhere", [CASE])
PASSED = Outcome(CASE, 100e9, "one run", [Finding(HELD, 1.0), Finding(NOTED, 7.0)])
BROKEN = Outcome(CASE, 400e9, "", [Finding(FAILED, float("nan"))])
MISSING = Outcome(CASE, 400e9, "", missing="no such thing")


def test_lines() -> None:
    assert [*answer.lines(PASSED)] == [
        "100 Gbit/s, case 1, a case, one run: pass",
        "  pass   held: 1 us (at most 2 us)",
        "  noted  noted: 7",
    ]
    assert [*answer.lines(BROKEN)][1] == "  FAIL   <failed>: nan (at most 2)"
    assert [*answer.lines(MISSING)] == ["400 Gbit/s, case 1, a case: not run, no such thing"]
    assert answer.total([PASSED, BROKEN, MISSING]) == "1 pass, 1 fail, 1 not run"


@pytest.mark.parametrize(
    ("outcomes", "word"),
    [
        ([PASSED], "pass"),
        ([PASSED, MISSING], "pass"),
        ([PASSED, BROKEN], "fail"),
        ([MISSING], "not run"),
        ([], "not run"),
    ],
)
def test_one_word_for_all(outcomes: list[Outcome], word: str) -> None:
    assert answer.word(outcomes) == word


def test_the_page_and_its_data(tmp_path: Path) -> None:
    page = answer.write(tmp_path / "new", PLAN, [PASSED, BROKEN, MISSING], "virtual")
    text = page.read_text()
    assert "&lt;failed&gt;" in text
    assert "<failed>" not in text
    assert "not run: no such thing" in text
    data = json.loads((page.parent / answer.DATA).read_text())
    assert (data["result"], data["counts"]) == ("fail", {"pass": 1, "fail": 1, "not run": 1})
    assert data["runs"][1]["expectations"][0]["measured"] is None
    assert data["runs"][0]["expectations"][1]["passed"] is None


def test_what_the_engine_does_not_have_is_not_run() -> None:
    made = experiment(OWN, [flow(1, 2, 3)], ecn=True) | {"rack": {"calibrate": "all"}}
    case = Case("1", "", lambda _switch: [Trial("", made, [NOTED])])
    (outcome,) = examine(TestPlan("mine", "", "", [case, Case("2", "", missing="never")]), [OWN], ["1"])
    assert outcome.word == "not run"
    assert "rack.calibrate" in outcome.missing


def test_an_expectation_that_nothing_breaks_is_none() -> None:
    with pytest.raises(ValueError, match="nothing is known to break it"):
        none("loss", lambda _seen: 0.0, [])


@pytest.mark.parametrize(
    ("least", "most", "words"),
    [(0, 0, "0 B"), (1, float("inf"), "at least 1 B"), (1, 2, "at least 1 B, at most 2 B")],
)
def test_bounds_in_words(least: float, most: float, words: str) -> None:
    assert Expectation("x", lambda _seen: 0.0, least, most, " B", ["seed=2"]).bounds == words
