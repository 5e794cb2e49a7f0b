"""The table as JSON."""

from __future__ import annotations

from testbed.results.papers import as_json
from testbed.results.papers.figures import Figures
from testbed.runs.reproduce.cells import table_cells


def test_a_cell_has_ours_the_printed_and_the_word(figures: Figures) -> None:
    data = as_json.as_dict(figures, table_cells(figures.comparison), quick=True)
    (cell,) = [c for c in data["cells"] if (c["row"], c["column"], c["metric"]) == ("B", "two", "su")]
    assert (cell["here"]["median"], cell["printed"], cell["word"], cell["degraded"]) == (85, 80, "equal", True)
    assert data["judged"][1]["far"] == ["A", "B"]
    assert data["cut"]
