"""What a table says beside its numbers."""

from __future__ import annotations

from testbed.results.papers import table
from testbed.results.papers.figures import Figures


def told(figures: Figures) -> list[str]:
    orders = table.orders(figures)
    assert orders is not None
    return [order.text for _, order, *_ in orders.rows]


def test_an_order_begins_with_the_best(figures: Figures) -> None:
    assert told(figures) == ["A < B\nA < B", "A < B\nB < A"]  # by queue
    comparison = figures.comparison
    assert comparison.judged is not None
    by_su = comparison.model_copy(update={"judged": comparison.judged.model_copy(update={"order": "su"})})
    assert told(Figures(by_su, figures.measured)) == ["A > B\nA > B", "A > B\nB > A"]
