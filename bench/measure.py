"""One measured figure beside its target, and how many of them become a table."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from statistics import median
from typing import Any

INDENT = "    "
NOTE_COLUMNS = 120


@dataclass(frozen=True)
class Row:
    """A line of the table. ``passed`` is None where there is no target."""

    name: str
    measured: str
    target: str = ""
    passed: bool | None = None
    note: str = ""
    values: dict[str, Any] = field(default_factory=dict)  # what it was computed from, in SI units

    @property
    def outcome(self) -> str:
        """``pass``, ``MISS``, or nothing where there is no target."""
        return "" if self.passed is None else "pass" if self.passed else "MISS"

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {**asdict(self), "outcome": self.outcome}


def spread(values: Sequence[float], form: str = ",.0f") -> str:
    """Median and range.

    >>> spread([3.0, 1.0, 2.0])
    '2 (1 - 3)'
    """
    middle, low, high = (format(value, form) for value in (median(values), min(values), max(values)))
    return middle if low == high else f"{middle} ({low} - {high})"


def table(rows: Sequence[Row]) -> str:
    """All rows in columns, as wide as they need; notes stand below their row."""
    cells = [("what", "measured", "target", ""), *((row.name, row.measured, row.target, row.outcome) for row in rows)]
    widths = [max(len(line[column]) for line in cells) for column in range(3)]
    lines = []
    for line, note in zip(cells, ["", *(row.note for row in rows)], strict=True):
        padded = [text.ljust(width) for text, width in zip(line, widths, strict=False)]
        lines.append("  ".join([*padded, line[3]]).rstrip())
        lines += textwrap.wrap(note, NOTE_COLUMNS, initial_indent=INDENT, subsequent_indent=INDENT)
    lines.insert(1, "-" * max(map(len, lines)))
    return "\n".join(lines)
