"""What a quick comparison leaves out."""

from __future__ import annotations

from testbed.results.papers.cells import cuts
from testbed.results.papers.comparison import load


def test_what_quick_cuts_is_told_of_the_cells_that_it_keeps() -> None:
    table = load("adpg-table-2")
    assert "time.dilation 1500 instead of 3000" in cuts(table)  # 1200 elsewhere
    twice = table.model_copy(update={"quick": table.quick.model_copy(update={"repeats": 2})})
    assert "2 runs of every cell instead of 6" in cuts(twice)
