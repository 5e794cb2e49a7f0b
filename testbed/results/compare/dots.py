"""The dot plot: the figures of all variants of a scenario side by side, as SVG that the page and paper share.

One strip per figure, one row per variant: every run a faint dot, the median a full one on its interval.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from testbed.results.compare.comparison import Comparison
from testbed.results.compare.looks import colour_of
from testbed.results.compare.trends import DRAWN, SLOWDOWN
from testbed.results.compare.variants import Variant
from testbed.results.figures.registry import Figure
from testbed.results.report.drawing import Drawing
from testbed.results.report.ticks import ticks
from testbed.results.summary import COMPARED

WIDTH, TOP, ROW, ROW_ABOVE, BOTTOM = 400, 34, 24, 16, 22
NAME_ABOVE = 10  # its row's dots
NAMES, VALUES = 112, 62  # to the left of the axis, and to the right of it
EDGE = 20  # to its left, if the names are above: half of a tick's text
LETTER = 7.2  # of a name
TICKS = 6  # at most, about
PAD = 0.06  # of the range, on both sides
COLOURS = {"better": "good", "worse": "limit", "equal": "ink", "": "ink"}


def strips(comparison: Comparison, here: Sequence[Variant]) -> dict[str, str]:
    """Figure's name to SVG, of one scenario; the baseline comes first, as in the table."""
    here = sorted(here, key=lambda one: not comparison.is_baseline(one))
    known = {metric.name for metric in comparison.metrics}
    return {name: _Strip(comparison, here, COMPARED[name]).svg() for name in (*DRAWN, *SLOWDOWN) if name in known}


@dataclass(frozen=True)
class _Scale:
    """Readers' units to places."""

    low: float
    high: float
    left: float

    def __call__(self, value: float) -> float:
        return self.left + (WIDTH - VALUES - self.left) * (value - self.low) / (self.high - self.low)


@dataclass(frozen=True)
class _Strip:
    """One figure of all variants."""

    comparison: Comparison
    here: Sequence[Variant]
    metric: Figure

    @property
    def above(self) -> bool:
        """Whether the names stand above their rows: they are too long to stand beside."""
        return max(len(one.contender) for one in self.here) * LETTER > NAMES

    @cached_property
    def scale(self) -> _Scale:
        """As far as the runs reach; from 0 where less is better, so that little looks little."""
        metric, left = self.metric, EDGE if self.above else NAMES
        values = [value for one in self.here if self.comparable(one) for value in one.values(metric.name)]
        known = [value * metric.scale for value in values if math.isfinite(value)]
        least, most = (min(known), max(known)) if known else (0.0, 0.0)
        if metric.better == "lower":
            least = min(least, 0.0)
        pad = PAD * ((most - least) or abs(most) or 1)
        return _Scale(least if metric.better == "lower" else max(0.0, least - pad), most + pad, left)

    def comparable(self, variant: Variant) -> bool:
        return self.comparison.comparable(variant, self.metric.name)

    def svg(self) -> str:
        metric, drawing = self.metric, Drawing(WIDTH)
        row = ROW + (ROW_ABOVE if self.above else 0)
        high = TOP + row * len(self.here)
        drawing.text((0, 14), metric.label, bold=True)
        drawing.text((WIDTH, 14), f"{metric.readers_unit or 'index'}, {metric.better} is better", "muted", anchor="end")
        for text, tick in ticks(self.scale.low, self.scale.high, TICKS).items():
            at = self.scale(tick)
            drawing.line((at, TOP - 8), (at, high), "rule", width=1)
            drawing.text((at, high + 16), text, "muted", anchor="middle")
        for one in self.here:
            if self.comparison.is_baseline(one) and self.comparable(one):
                self._line(drawing, one, high)
        for number, variant in enumerate(self.here):
            y = TOP + row * (number + 1) - ROW / 2
            drawing.text((0, y - NAME_ABOVE if self.above else y + 4.5), variant.contender, halo=True)
            self._row(drawing, variant, y)
        return drawing.svg(high + BOTTOM, f"{metric.label} of {', '.join(one.contender for one in self.here)}")

    def _line(self, drawing: Drawing, baseline: Variant, high: float) -> None:
        median = baseline.estimate(self.metric.name).median
        if math.isfinite(median):
            at = self.scale(median * self.metric.scale)
            drawing.line((at, TOP - 8), (at, high), "faint", width=1.5)

    def _row(self, drawing: Drawing, variant: Variant, y: float) -> None:
        metric, scale, found = self.metric, self.scale, variant.estimate(self.metric.name)
        colour = colour_of(self.comparison, variant.contender)
        if not self.comparable(variant):
            drawing.text((scale.left + 6, y + 4.5), "not comparable: delivers next to nothing", "muted")
            return
        if found.has_interval:
            low, high = (scale(end * metric.scale) for end in (found.low, found.high))
            drawing.line((low, y), (high, y), colour, width=4, opacity=0.45)
        for run, value in zip(variant.runs, variant.values(metric.name), strict=True):
            if math.isfinite(value):
                title = f"{variant.contender}, seed {run.manifest.seed}: {metric.text(value)}"
                drawing.dot((scale(value * metric.scale), y), 3.5, colour, opacity=0.35, title=title)
        if math.isfinite(found.median):
            title = f"{variant.contender}: {metric.text(found.median)}"
            drawing.dot((scale(found.median * metric.scale), y), 4.5, colour, title=title)
        judged = COLOURS[self.comparison.judged(variant, metric.name)]
        drawing.text((WIDTH, y + 4.5), metric.number(found.median), judged, anchor="end")
