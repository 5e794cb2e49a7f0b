"""FCT slowdown by flow size: the plot and the table of the report."""

from __future__ import annotations

import math
from html import escape

import numpy as np

from testbed.results.report.plot import Axis, Dash, Line, Panel, Plot, Symbol
from testbed.results.summary import Summary
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
    size = np.array([one.largest for one in bins]) / 1e3
    data = [
        Line(size, np.array([getattr(one, name) for one in bins]), name, colour, dash=dash, symbol=symbol)
        for name, (colour, dash, symbol) in LOOKS.items()
    ]
    x = Axis("kB, largest of each bin", log=bool(size.max() > 10 * size.min()))
    note = f"FCT / ideal FCT of the {summary.fct_finished:,} flows that finished, in {len(bins)} bins with equally many"
    return [Plot("Slowdown by flow size", note, [Panel(data, Axis(log=True))], x, "slowdown")]


def slowdown_table(summary: Summary) -> str:
    """HTML: slowdown by decades of size; empty if no finite flow finished."""
    if not summary.slowdown_by_decade:
        return ""
    lines = []
    for one in summary.slowdown_by_decade:
        upto = f"up to {show_size(one.largest)}" if math.isfinite(one.largest) else "above"
        cells = "".join(f"<td>{text}</td>" for text in (f"{one.flows:,}", *map(_number, (one.mean, one.p50, one.p99))))
        lines.append(f'<tr><th scope="row">{escape(upto)}</th>{cells}</tr>')
    head = "<tr><th>size</th><th>flows</th><th>mean</th><th>p50</th><th>p99</th></tr>"
    table = f"<table><thead>{head}</thead><tbody>{''.join(lines)}</tbody></table>"
    return f'<section id="sizes"><h2>Slowdown by flow size</h2><div class="wide">{table}</div></section>'


def _number(value: float) -> str:
    return f"{value:.4g}" if math.isfinite(value) else "-"
