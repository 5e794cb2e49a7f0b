"""``make history JSON=FILE``: what `make bench JSON=FILE` has measured joins the history of docs/findings/bench.md.

A line of bench-history.csv is one bench, a column one row that has a target: the figure before its spread. The drawing
has a panel for each of them, over the benches in order; red is a missed target.
"""

from __future__ import annotations

import csv
import json
import math
import re
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes

from scripts.compact_svg import drawing

TABLES = Path(__file__).resolve().parents[1] / "docs/findings/tables"
HISTORY, DRAWING = "bench-history.csv", "bench-history.svg"
ABOUT = ("date", "commit", "cpu", "cores", "load", "missed")  # of a bench; the other columns are figures
FIGURE = re.compile(r"([+-]?[\d,]+(?:\.\d+)?)\s*(?:\([^)]*\))?\s*(\D*)")
PANEL = (3.3, 1.6)  # inches
TITLE = 46  # characters
OK, MISSED = "0.2", "#b3261e"

Line = dict[str, str]


def line_of(bench: dict[str, Any], date: str) -> Line:
    """One bench as a line: its rows that have a target. A column is named for the row and its unit."""
    machine, rows = bench["machine"], [row for row in bench["rows"] if row["passed"] is not None]
    missed = ";".join(row["name"] for row in rows if row["passed"] is False)
    line = {"date": date, **{name: str(machine[name]) for name in ("commit", "cpu", "cores")}}
    line |= {"load": f"{machine['load']:.1f}", "missed": missed}
    for row in rows:
        if found := FIGURE.fullmatch(row["measured"]):
            unit = f" [{found[2]}]" if found[2] else ""
            line[row["name"] + unit] = found[1].replace(",", "")
    return line


def read(file: Path) -> list[Line]:
    """The lines so far; what a line does not have is empty in the file."""
    if not file.exists():
        return []
    with file.open(newline="", encoding="utf-8") as opened:
        return [{name: value for name, value in line.items() if value} for line in csv.DictReader(opened)]


def write(file: Path, lines: list[Line]) -> None:
    """A new figure is a new column."""
    columns = dict.fromkeys((*ABOUT, *(name for line in lines for name in line)))
    with file.open("w", newline="", encoding="utf-8") as opened:
        table = csv.DictWriter(opened, list(columns), restval="", lineterminator="\n")
        table.writeheader()
        table.writerows(lines)


def draw(file: Path, lines: list[Line]) -> None:
    """A panel for each figure."""
    names = list(dict.fromkeys(name for line in lines for name in line if name not in ABOUT))
    across = min(3, len(names))
    down = math.ceil(len(names) / across)
    with drawing(file, "The bench, night by night", (across * PANEL[0], down * PANEL[1]), **{"font.size": 7}) as drawn:
        panels = list(drawn.subplots(down, across, squeeze=False).flat)
        for axes, name in zip(panels, names, strict=False):
            _panel(axes, name, lines)
        for axes in panels[len(names) :]:
            axes.axis("off")


def _panel(axes: Axes, name: str, lines: list[Line]) -> None:
    row = name.rpartition(" [")[0] or name
    known = [
        (at, float(line[name]), row in line.get("missed", "").split(";"))
        for at, line in enumerate(lines)
        if name in line
    ]
    axes.plot([at for at, _, _ in known], [value for _, value, _ in known], color="0.4", lw=0.8)
    for at, value, missed in known:
        axes.plot(at, value, "o", ms=4, color=MISSED if missed else OK)
    axes.set_title(name if len(name) <= TITLE else f"{name[: TITLE - 1]}…", fontsize=7)
    axes.set_xticks([0, len(lines) - 1], [lines[0]["date"], lines[-1]["date"]] if len(lines) > 1 else ["", ""])
    axes.set_xlim(-0.5, len(lines) - 0.5)
    least, most = min(value for _, value, _ in known), max(value for _, value, _ in known)
    axes.set_ylim(min(0, 1.1 * least), 1.1 * max(0, most) or (1 if least == 0 else 0))


def append(tables: Path, benches: list[Path]) -> None:
    """To the history in a folder; a bench is of the day on which its file was written."""
    lines = read(tables / HISTORY)
    for file in benches:
        date = datetime.fromtimestamp(file.stat().st_mtime, UTC).date().isoformat()
        lines.append(line_of(json.loads(file.read_text(encoding="utf-8")), date))
    write(tables / HISTORY, lines)
    draw(tables / DRAWING, lines)


def main() -> None:
    append(TABLES, [Path(name) for name in sys.argv[1:]])


if __name__ == "__main__":
    main()
