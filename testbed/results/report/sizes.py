"""FCT slowdown by flow size: the plot and the table of the report."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from testbed.base.arrays import Floats
from testbed.results.figures.fct import SizeBin
from testbed.results.report.plot import Axis, Dash, Line, Panel, Plot, Symbol
from testbed.results.summary import Summary
from testbed.results.table import Cell, Table
from testbed.units import show_size

LOOKS: dict[str, tuple[str, Dash, Symbol]] = {
    "p50": ("c0", "solid", "circle"),
    "mean": ("muted", "dot", ""),
    "p99": ("c1", "dash", "triangle"),
}  # told apart in black and white as well


def slowdown_plots(summary: Summary) -> list[Plot]:
    """Slowdown over size, if enough finite flows finished for bins of 5 % of them each."""
    bins = summary.slowdown_by_share
    if not bins:
        return []
    data = [Line(*over_size(bins, name), name, colour, dash=dash, symbol=symbol)
            for name, (colour, dash, symbol) in LOOKS.items()]  # fmt: skip
    note = f"FCT / ideal FCT of the {summary.fct_finished:,} flows that finished, in {len(bins)} bins with equally many"
    return [by_size("Slowdown by flow size", note, data, "slowdown")]


def over_size(bins: Sequence[SizeBin], figure: str) -> tuple[Floats, Floats]:
    """The largest size of each bin, kB, and this figure of it."""
    return np.array([one.largest for one in bins]) / 1e3, np.array([getattr(one, figure) for one in bins])


def by_size(title: str, note: str, lines: list[Line], name: str = "") -> Plot:
    """Slowdowns, each `over_size`."""
    wide = max(line.x[-1] for line in lines) > 10 * min(line.x[0] for line in lines)
    return Plot(title, note, [Panel(lines, Axis(log=True))], Axis("kB, largest of each bin", log=bool(wide)), name)


def slowdown_table(summary: Summary) -> str:
    """HTML: slowdown by decades of size; empty if no finite flow finished."""
    if not summary.slowdown_by_decade:
        return ""
    rows = []
    for one in summary.slowdown_by_decade:
        upto = f"up to {show_size(one.largest)}" if math.isfinite(one.largest) else "above"
        rows.append([Cell(text) for text in (upto, f"{one.flows:,}", *map(_number, (one.mean, one.p50, one.p99)))])
    table = Table(rows, [Cell(head) for head in ("size", "flows", "mean", "p50", "p99")]).html()
    return f'<section id="sizes"><h2>Slowdown by flow size</h2>{table}</section>'


def _number(value: float) -> str:
    return f"{value:.4g}" if math.isfinite(value) else "-"
