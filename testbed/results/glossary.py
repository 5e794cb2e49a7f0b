"""Writes the table of docs/reference/results.md: ``python -m testbed.results.glossary`` (``make schema``)."""

from __future__ import annotations

from pathlib import Path

from testbed.results.figures.registry import Figure
from testbed.results.summary import FIGURES
from testbed.results.table import Cell, Table

FILE = Path(__file__).parents[2] / "docs/reference/results.md"
BEGIN, END = "<!-- figures: written by `make schema` from testbed/results/summary.py -->", "<!-- end of figures -->"
HEADS = ("figure", "unit", "better", "definition", "source, and how ours differs")


def text(page: str) -> str:
    """The page with the table as it must be."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{_table().markdown()}\n\n{END}{after}"


def _table() -> Table:
    return Table([_row(one) for one in FIGURES.values()], [Cell(head) for head in HEADS], align="left")


def _row(one: Figure) -> list[Cell]:
    return [Cell(f"`{one.name}`"), *map(Cell, (one.unit, one.better, one.description, one.source))]


if __name__ == "__main__":
    FILE.write_text(text(FILE.read_text(encoding="utf-8")), encoding="utf-8")
