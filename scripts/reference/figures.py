"""The table of docs/reference/results.md, of the registry of figures."""

from __future__ import annotations

from scripts.reference.markdown import REFERENCE
from testbed.results.figures.registry import Figure
from testbed.results.summary import FIGURES
from testbed.results.table import Cell, Table

FILE = REFERENCE / "results.md"
BEGIN, END = "<!-- figures: written by `make schema` from testbed/results/summary.py -->", "<!-- end of figures -->"
HEADS = ("figure", "unit, better", "definition; source, and how ours differs")


def text() -> str:
    """The page with the table as it must be."""
    before, _, rest = FILE.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    table = Table([_row(one) for one in FIGURES.values()], [Cell(head) for head in HEADS], align="left")
    return f"{before}{BEGIN}\n\n{table.markdown()}\n\n{END}{after}"


def _row(one: Figure) -> list[Cell]:
    unit = ", ".join(filter(None, (one.unit, one.better)))
    return [Cell(f"`{one.name}`"), Cell(unit), Cell("; ".join(filter(None, (one.description, one.source))))]
