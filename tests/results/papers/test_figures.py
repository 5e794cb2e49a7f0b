"""Ours beside the paper's: medians, the equality rule, differences to a row, the best of columns, the derived table."""

from __future__ import annotations

import math

import pytest

from testbed.results.papers import as_json, content, markdown, text
from testbed.results.papers.cells import Measured
from testbed.results.papers.comparison import Comparison, Equal, load
from testbed.results.papers.figures import Figures, within
from testbed.results.papers.judge import judge
from testbed.results.summary import Summary, summarise
from testbed.results.verdict import Verdict
from testbed.run.reproduce.cells import places
from tests.support.checkout import ROOT
from tests.support.folders import SLOW
from tests.support.synthetic_runs import run

MINE = ROOT / "tests/support/mine.yaml"


@pytest.fixture
def mine() -> Comparison:
    return load(str(MINE))


def summary(su: float, ql: float, *, degraded: bool = False) -> Summary:
    found = summarise(run(), Verdict(), experiment="incast-8", controller="dcqcn")
    figures = {"su": su, "ql_mean": ql * 1e-6, "goodput": 50e9, "bottleneck_rate": 100e9}
    return found.model_copy(update={**figures, "verdict": SLOW if degraded else Verdict()})


@pytest.fixture
def figures(mine: Comparison) -> Figures:
    runs = {
        ("A", "two"): [summary(93, 4), summary(94, 5), summary(97, 6)],
        ("A", "eight"): [summary(80, 20), summary(80, 20)],
        ("B", "two"): [summary(85, 10), summary(85, 10), summary(85, 10, degraded=True)],
        ("B", "eight"): [summary(91, 10)],
    }
    return Figures(mine, Measured(summaries={place: dict(enumerate(found, 1)) for place, found in runs.items()}))


def test_the_median_stands_beside_the_printed_number(figures: Figures) -> None:
    one = figures.beside("A", "two", "su")
    assert one.ours is not None
    assert (one.ours.median, one.printed, one.difference, one.word) == (94, 90, 4, "equal")
    assert figures.beside("A", "eight", "su").word == "worse"  # 80 for 95
    assert figures.beside("B", "eight", "su").word == "better"  # 91 for 80
    assert figures.beside("A", "eight", "ql").word == "worse"  # 20 us for 8
    assert figures.beside("B", "two", "ql").degraded
    assert not figures.beside("A", "two", "ql").degraded


def test_what_is_not_a_number_is_not_compared(figures: Figures) -> None:
    lost, nothing = figures.beside("A", "most", "su"), figures.beside("B", "most", "su")
    assert (lost.ours, lost.printed, lost.word) == (None, "PL", "")
    assert (nothing.printed, nothing.word) == (None, "")
    assert math.isnan(lost.difference)


def test_figures_that_are_derived_from_others(figures: Figures) -> None:
    share = figures.ours("A", "two", "share")
    assert share is not None
    assert share.median == 50
    gain = figures.ours("B", "two", "gain")  # A has 4, 5, 6 us where B has 10
    assert gain is not None
    assert gain.median == pytest.approx(-50)
    assert figures.ours("A", "two", "gain") is None


def test_runs_are_held_against_those_of_the_same_seed(mine: Comparison) -> None:
    runs = {
        ("A", "two"): {1: summary(90, 4), 2: summary(90, 5), 3: summary(90, 6)},
        ("B", "two"): {2: summary(90, 10), 3: summary(90, 12), 4: summary(90, 1)},
    }
    gain = Figures(mine, Measured(summaries=runs)).ours("B", "two", "gain")
    assert gain is not None
    assert (gain.low, gain.high, gain.repeats) == (pytest.approx(-50), pytest.approx(-50), 2)


def test_a_degraded_run_of_the_row_that_it_is_held_against_counts(mine: Comparison) -> None:
    runs = {("A", "two"): {1: summary(90, 4, degraded=True)}, ("B", "two"): {1: summary(90, 10)}}
    figures = Figures(mine, Measured(summaries=runs))
    assert figures.beside("B", "two", "gain").degraded
    assert not figures.beside("B", "two", "ql").degraded


def test_up_to_is_the_best_of_the_columns(figures: Figures) -> None:
    best = [figures.ours("A", "best", metric) for metric in ("su", "ql")]
    assert [one.median for one in best if one is not None] == [94, 5]
    assert figures.beside("B", "best", "su").degraded


@pytest.mark.parametrize(
    ("difference", "printed", "of", "equal"),
    [
        (13.0 - 8.0, 8, "points", True), (-5, 100, "points", True), (5.01, 8, "points", False),
        (0.04, 0.941, "percent", True), (0.05, 0.941, "percent", False), (-0.2, 2.93, "percent", False),
    ],
)  # fmt: skip
def test_the_equality_rule(difference: float, printed: float, of: str, equal: bool) -> None:
    rule = Equal.model_validate({"within": 5, "of": of, "rule": "a test"})
    assert within(difference, printed, rule) == equal


def test_orders_and_what_is_close(figures: Figures) -> None:
    two, eight = judge(figures)
    assert (two.printed_order, two.our_order, two.same_order) == (["A", "B"], ["A", "B"], True)
    assert (two.close, two.far) == ({"A": 4, "B": 5}, [])
    assert (eight.our_order, eight.same_order, eight.same_by_rule) == (["B", "A"], False, True)  # 8 and 12 us are equal
    assert eight.far == ["A", "B"]  # 15 and 11 points
    (pair,) = eight.reversed
    assert str(pair) == "A and B (8 and 12 printed, 20 and 10 here; equal by the rule)"


def test_an_order_begins_with_the_best(figures: Figures) -> None:
    assert [one[1] for one in content.orders(figures)] == ["A < B\nA < B", "A < B\nB < A"]  # by queue
    comparison = figures.comparison
    assert comparison.judged is not None
    by_su = comparison.model_copy(update={"judged": comparison.judged.model_copy(update={"order": "su"})})
    assert [one[1] for one in content.orders(Figures(by_su, figures.measured))] == ["A > B\nA > B", "A > B\nB > A"]


def test_it_is_said_on_a_terminal_in_markdown_and_as_json(figures: Figures) -> None:
    from rich.console import Console

    console = Console(width=80, record=True, file=open("/dev/null", "w"))  # noqa: SIM115, PTH123
    console.print(text.render(figures, places(figures.comparison), 80, quick=False))
    shown = console.export_text()
    assert "94.0     90  +4.0 =" in shown
    assert "85.0†     80  +5.0 =" in shown
    assert "not implemented here: C" in shown
    assert all(len(line.rstrip()) <= 80 for line in shown.splitlines())
    page = markdown.render(figures, places(figures.comparison), quick=False)
    assert "| 2 to 1 | A | 94.0 = | 90 | 5.0 = | 5 |" in page
    assert f"| 2 to 1 | C ({content.NOT_HERE}) | - | 100 | - | 1 |" in page
    data = as_json.as_dict(figures, places(figures.comparison), quick=True)
    (cell,) = [c for c in data["cells"] if (c["row"], c["column"], c["metric"]) == ("B", "two", "su")]
    assert (cell["here"]["median"], cell["printed"], cell["word"], cell["degraded"]) == (85, 80, "equal", True)
    assert data["judged"][1]["far"] == ["A", "B"]
    assert data["cut"]
