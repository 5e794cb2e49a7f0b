"""What must hold."""

from __future__ import annotations

import math

import pytest

from testbed.advise.constraint import Constraint, broken, margins
from testbed.errors import BadInput

WAS = [{"goodput": value, "ql_p99": 10e-6} for value in (100.0, 200.0, 300.0)]


def test_each_draw_is_held_against_the_same_draw_now() -> None:
    """Medians would differ by a third here: the draws are what differs, and not the configurations."""
    kept = Constraint.read("goodput >= 0.97*baseline", ["a"])
    assert kept.holds("a", [{"goodput": value} for value in (98.0, 199.0, 295.0)], WAS)
    assert not kept.holds("a", [{"goodput": value} for value in (96.0, 193.0, 400.0)], WAS)


def test_it_may_be_of_one_workload_alone() -> None:
    one = Constraint.read("b: ql_p99 < 5*us", ["a", "b"])
    assert broken([one], {"a": WAS}, {"a": WAS}) == []
    assert broken([one], {"b": WAS}, {"b": WAS}) == ["b: ql_p99 < 5*us"]


def test_what_a_workload_does_not_have_is_no_constraint_there_unless_it_is_named() -> None:
    assert Constraint.read("iteration_mean < 1*ms", ["a"]).holds("a", WAS, WAS)
    assert not Constraint.read("a: iteration_mean < 1*ms", ["a"]).holds("a", WAS, WAS)


def test_what_is_lost_does_not_hold() -> None:
    assert not Constraint.read("ql_p99 < 20*us", ["a"]).holds("a", [{}, {}, {}], WAS)


def test_a_limit_is_kept_in_every_draw_in_which_it_is_kept_now() -> None:
    none, was = Constraint.read("pause_frames <= 0", ["a"]), [{"pause_frames": value} for value in (0.0, 0.0, 9.0)]
    assert none.holds("a", [{"pause_frames": value} for value in (0.0, 0.0, 7.0)], was)
    assert not none.holds("a", [{"pause_frames": value} for value in (0.0, 5.0, 0.0)], was)


def test_a_draw_that_lacks_the_figure_now_says_nothing_and_the_others_do() -> None:
    was = [{"slowdown_p99": value} for value in (2.0, math.nan, 2.0)]
    kept = Constraint.read("slowdown_p99 <= 1.03*baseline", ["a"])
    assert kept.holds("a", was, was)
    assert margins([kept], {"a": was}, {"a": was}) == [pytest.approx(0.03 / 1.03), math.inf, pytest.approx(0.03 / 1.03)]
    assert not kept.holds("a", [{"slowdown_p99": value} for value in (2.0, 2.0, 9.0)], was)


def test_margins_are_of_the_nearest_limit() -> None:
    both = [Constraint.read(one, ["a"]) for one in ("goodput >= 0.5*baseline", "ql_p99 < 20*us")]
    assert margins(both, {"a": WAS}, {"a": WAS}) == pytest.approx([0.5, 0.5, 0.5])
    assert margins(both, {"a": [{"ql_p99": 40e-6, "goodput": 1.0}] * 3}, {"a": WAS})[0] == pytest.approx(-0.98)
    assert margins([], {"a": WAS}, {"a": WAS}) == [math.inf]


@pytest.mark.parametrize("text", ["goodput", "speed > 1", "c: goodput > 1", "pause_frames <= 2*goodput*baseline"])
def test_what_is_refused(text: str) -> None:
    with pytest.raises(BadInput, match="--constraint"):
        Constraint.read(text, ["a"])
