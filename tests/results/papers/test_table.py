"""The tables of a comparison: on a terminal, in Markdown, and the derived one."""

from __future__ import annotations

from rich.console import Console

from testbed.results.papers import table
from testbed.results.papers.figures import Figures
from testbed.runs.reproduce.cells import table_cells


def told(figures: Figures) -> list[str]:
    orders = table.orders(figures)
    assert orders is not None
    return [order.text for _, order, *_ in orders.rows]


def test_the_table_fits_the_terminal(figures: Figures) -> None:
    console = Console(width=80, record=True, file=open("/dev/null", "w"))  # noqa: SIM115, PTH123
    console.print(table.render(figures, table_cells(figures.comparison), quick=False))
    shown = console.export_text()
    assert "94.0     90  +4.0 =" in shown
    assert "85.0†     80  +5.0 =" in shown
    assert "not implemented here: C" in shown
    assert all(len(line.rstrip()) <= 80 for line in shown.splitlines())


def test_a_row_of_markdown_has_ours_beside_the_printed(figures: Figures) -> None:
    page = table.markdown(figures, table_cells(figures.comparison), quick=False)
    assert "| 2 to 1 | A | 94.0 (93.0 to 97.0) = | 90 | 5.0 (4.0 to 6.0) = | 5 |" in page
    assert f"| 2 to 1 | C ({table.NOT_HERE}) | - | 100 | - | 1 |" in page


def test_an_order_begins_with_the_best(figures: Figures) -> None:
    assert told(figures) == ["A < B\nA < B", "A < B\nB < A"]  # by queue
    comparison = figures.comparison
    assert comparison.judged is not None
    by_su = comparison.model_copy(update={"judged": comparison.judged.model_copy(update={"order": "su"})})
    assert told(Figures(by_su, figures.measured)) == ["A > B\nA > B", "A > B\nB > A"]
