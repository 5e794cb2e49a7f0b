"""A forest plot: gains with their 95 % intervals, a row each, as SVG for the page."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from testbed.advise.objective import share
from testbed.advise.verdict import percent
from testbed.results.compare.median import Estimate
from testbed.results.report.drawing import Drawing
from testbed.results.report.ticks import ticks

WIDTH, NAMES, VALUES = 900, 240, 230
TOP, ROW, BOTTOM = 26, 28, 26
LEAST, MOST = -1.0, 1.0  # shares that are drawn: nothing can get better by more, and what is worse by as much is off
TICKS = 8


@dataclass(frozen=True)
class Row:
    """A name with its gains; ``note`` stands where they are not known, or behind them."""

    name: str
    gain: Estimate
    note: str = ""
    colour: str = "ink"


def forest(rows: Sequence[Row], title: str) -> str:
    """Right of 0 it is better than what is there now."""
    drawing, height = Drawing(WIDTH), TOP + ROW * len(rows)
    ends = [max(share(value), LEAST) for row in rows for value in (row.gain.low, row.gain.high, row.gain.median)
            if math.isfinite(value)]  # fmt: skip
    low, high = min([*ends, -0.05]), max([*ends, 0.05])
    pad = 0.06 * (high - low)
    low, high = max(low - pad, LEAST), min(high + pad, MOST)

    def at(value: float) -> float:
        inside = min(max(value, low), high)
        return NAMES + (WIDTH - NAMES - VALUES) * (inside - low) / (high - low)

    for text, tick in ticks(100 * low, 100 * high, TICKS).items():
        drawing.line((at(tick / 100), TOP - 6), (at(tick / 100), height), "rule", width=1)
        drawing.text((at(tick / 100), height + 17), f"{text} %", "muted", anchor="middle")
    drawing.line((at(0), TOP - 12), (at(0), height), "faint", width=1.5)
    drawing.text((at(0), TOP - 14), "as now", "muted", anchor="middle")
    for number, row in enumerate(rows):
        _row(drawing, row, TOP + ROW * (number + 0.5), at)
    return drawing.svg(height + BOTTOM, title)


def _row(drawing: Drawing, row: Row, y: float, at: Callable[[float], float]) -> None:
    drawing.text((0, y + 4.5), row.name, "ink" if row.colour == "ink" else row.colour, bold=row.colour == "accent")
    gain = row.gain
    if not math.isfinite(gain.median):
        drawing.text((at(0) + 8, y + 4.5), row.note or "not known", "muted")
        return
    if gain.has_interval:
        drawing.line((at(share(gain.low)), y), (at(share(gain.high)), y), row.colour, width=4, opacity=0.45)
    told = percent(gain.median)
    drawing.dot((at(share(gain.median)), y), 5, row.colour, title=f"{row.name}: {told}")
    drawing.text((WIDTH, y + 4.5), f"{told}{f', {row.note}' if row.note else ''}", "muted", anchor="end")
