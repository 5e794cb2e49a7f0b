"""The table in Markdown."""

from __future__ import annotations

from testbed.results.papers import content, markdown
from testbed.results.papers.figures import Figures
from testbed.run.reproduce.cells import places


def test_a_row_has_ours_beside_the_printed(figures: Figures) -> None:
    page = markdown.render(figures, places(figures.comparison), quick=False)
    assert "| 2 to 1 | A | 94.0 = | 90 | 5.0 = | 5 |" in page
    assert f"| 2 to 1 | C ({content.NOT_HERE}) | - | 100 | - | 1 |" in page
