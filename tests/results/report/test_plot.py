"""The description of a plot, and what the page is told of it."""

from __future__ import annotations

import base64

import numpy as np
import pytest

from testbed.results.report.page import packed
from testbed.results.report.plot import Line, Panel, Plot
from testbed.results.report.plots import plots
from tests.support.synthetic_runs import run

ONE, TWO = np.array([0.0, 1.0]), np.array([1.0, np.nan])


def test_the_page_has_every_number_once() -> None:
    for record in (run(), run([1 / 64] * 64), run([1 / 100] * 100, sources=[f"h{i}" for i in range(100)])):
        for plot in plots(record):
            told = plot.as_dict()
            numbers = [np.frombuffer(base64.b64decode(one), "<f4") for one in told["numbers"]]
            assert len(set(told["numbers"])) == len(numbers)
            held = [line for panel in told["panels"] for line in panel["lines"]]
            for line, one in zip(held, plot.lines, strict=True):
                for name in ("x", "y", "low"):
                    values = getattr(one, name)
                    assert (line[name] is None) == (values is None)
                    if values is not None:
                        assert numbers[line[name]] == pytest.approx(values, nan_ok=True)
            packed(told)  # raises on what JSON has no word for


def test_a_legend_is_for_several_lines_and_not_for_many() -> None:
    def names(lines: list[Line]) -> list[str]:
        return [line.name for line in Plot("Test", "", [Panel(lines)]).legend]

    curves = [Line(ONE, TWO, f"c{i}", "c0") for i in range(9)]
    quiet = Line(ONE, TWO, "quiet", "c0", listed=False)
    assert names(curves[:1]) == []
    assert names([*curves[:1], quiet]) == ["c0"]
    assert len(names(curves[:8])) == 8
    assert names(curves) == []


def test_a_file_is_called_after_its_plot() -> None:
    assert Plot("Marks & drops, %", "", []).slug == "marks-drops"
    assert Plot("Marks", "", [], name="m").slug == "m"
