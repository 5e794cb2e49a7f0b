"""Ours beside the paper's: medians, the equality rule, differences to a row, the best of columns, the derived table."""

from __future__ import annotations

import math

import pytest

from testbed.results.papers.cells import Measured
from testbed.results.papers.comparison import Comparison, Equal
from testbed.results.papers.figures import Figures, within
from tests.support.comparisons import summary


def test_the_median_stands_beside_the_printed_number(figures: Figures) -> None:
    one = figures.pair("A", "two", "su")
    assert one.ours is not None
    assert (one.ours.median, one.printed, one.difference, one.word) == (94, 90, 4, "equal")
    assert figures.pair("A", "eight", "su").word == "miss"  # 80 for 95
    assert figures.pair("B", "eight", "su").word == "miss"  # 91 for 80: better, and not what was printed
    assert figures.pair("A", "eight", "ql").word == "miss"  # 20 us for 8
    assert figures.pair("B", "two", "ql").degraded
    assert not figures.pair("A", "two", "ql").degraded


def test_what_is_not_a_number_is_not_compared(figures: Figures) -> None:
    lost, nothing = figures.pair("A", "most", "su"), figures.pair("B", "most", "su")
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
    assert figures.pair("B", "two", "gain").degraded
    assert not figures.pair("B", "two", "ql").degraded


def test_up_to_is_the_best_of_the_columns(figures: Figures) -> None:
    best = [figures.ours("A", "best", metric) for metric in ("su", "ql")]
    assert [one.median for one in best if one is not None] == [94, 5]
    assert figures.pair("B", "best", "su").degraded


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
