"""The table on a terminal."""

from __future__ import annotations

from rich.console import Console

from testbed.results.papers import table
from testbed.results.papers.figures import Figures
from testbed.run.reproduce.cells import table_cells


def test_the_table_fits_the_terminal(figures: Figures) -> None:
    console = Console(width=80, record=True, file=open("/dev/null", "w"))  # noqa: SIM115, PTH123
    console.print(table.render(figures, table_cells(figures.comparison), 80, quick=False))
    shown = console.export_text()
    assert "94.0     90  +4.0 =" in shown
    assert "85.0†     80  +5.0 =" in shown
    assert "not implemented here: C" in shown
    assert all(len(line.rstrip()) <= 80 for line in shown.splitlines())
