"""Where the generated pages are, and their tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]
REFERENCE = ROOT / "docs/reference"


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Its lines and an empty one; nothing without rows."""
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return [f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}", *lines, ""] if lines else []
