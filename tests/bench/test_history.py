"""A bench is a line of the history, and a point of each drawing that it has a figure for."""

from __future__ import annotations

import json
from pathlib import Path

from bench.history import ABOUT, DRAWING, HISTORY, append, read
from bench.measure import Row

MACHINE = {"commit": "abc", "cpu": "one", "cores": 2, "load": 0.25, "kernel": "Linux", "python": "3.11"}


def bench(file: Path, *rows: Row) -> Path:
    file.write_text(json.dumps({"machine": MACHINE, "rows": [row.as_dict() for row in rows]}))
    return file


def test_benches_are_lines_and_a_new_figure_is_a_column(tmp_path: Path) -> None:
    append(tmp_path, [bench(tmp_path / "1.json", Row("goodput", "1,230.5 (1,100 - 1,300) packets/s", ">= 1", True))])
    rows = (
        Row("goodput", "900 packets/s", ">= 1,000", False),
        Row("error", "-0.31%", "within 2%", True),
        Row("other", "3 s"),
        Row("monitor", "failed", "", False),
    )
    append(tmp_path, [bench(tmp_path / "2.json", *rows)])
    first, second = read(tmp_path / HISTORY)
    assert {name: first[name] for name in first if name not in ABOUT} == {"goodput [packets/s]": "1230.5"}
    assert "missed" not in first
    assert (second["goodput [packets/s]"], second["error [%]"], second["missed"]) == ("900", "-0.31", "goodput;monitor")
    drawn = (tmp_path / DRAWING).read_text()
    assert "goodput [packets/s]" in drawn
    assert "error [%]" in drawn
