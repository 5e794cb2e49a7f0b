"""The table in Markdown."""

from __future__ import annotations

from testbed.results.papers import table
from testbed.results.papers.figures import Figures
from testbed.run.reproduce.cells import table_cells


def test_a_row_has_ours_beside_the_printed(figures: Figures) -> None:
    page = table.markdown(figures, table_cells(figures.comparison), quick=False)
    assert "| 2 to 1 | A | 94.0 = | 90 | 5.0 = | 5 |" in page
    assert f"| 2 to 1 | C ({table.NOT_HERE}) | - | 100 | - | 1 |" in page
