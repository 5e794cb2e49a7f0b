"""The list of docs/reference/results.md, of the registry of figures."""

from __future__ import annotations

from scripts.reference.markdown import REFERENCE, entries
from testbed.results.figures.registry import Figure
from testbed.results.summary import FIGURES

FILE = REFERENCE / "results.md"
BEGIN, END = "<!-- figures: written by `make schema` from testbed/results/summary.py -->", "<!-- end of figures -->"


def text() -> str:
    """The page with the list as it must be."""
    before, _, rest = FILE.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    return "\n".join([f"{before}{BEGIN}\n", *entries(map(_row, FIGURES.values())), f"{END}{after}"])


def _row(one: Figure) -> tuple[str, str, str]:
    unit = ", ".join(filter(None, (one.unit, one.better)))
    return f"`{one.name}`", unit, "; ".join(filter(None, (one.description, one.source)))
