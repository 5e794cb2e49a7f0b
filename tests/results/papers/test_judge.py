"""Orders as printed and as here, and who is close."""

from __future__ import annotations

from testbed.results.papers.figures import Figures
from testbed.results.papers.judge import judge


def test_orders_and_what_is_close(figures: Figures) -> None:
    two, eight = judge(figures)
    assert (two.printed_order, two.our_order, two.same_order) == (["A", "B"], ["A", "B"], True)
    assert (two.close, two.far) == ({"A": 4, "B": 5}, [])
    assert (eight.our_order, eight.same_order, eight.same_by_rule) == (["B", "A"], False, True)  # 8 and 12 us are equal
    assert eight.far == ["A", "B"]  # 15 and 11 points
    (pair,) = eight.reversed
    assert str(pair) == "A and B (8 and 12 printed, 20 and 10 here; equal by the rule)"
