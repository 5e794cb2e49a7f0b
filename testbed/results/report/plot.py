"""What every plot is made of: lines on panels above one x axis, saying what is drawn and not how it looks.

One description for the page (`chart.js` draws it with uPlot) and for paper (`testbed.results.report.vector`). Colours
are the names of CSS variables (``accent``); whoever draws resolves them, so that a plot follows the theme of its page.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from testbed.base.arrays import Floats, Ints
from testbed.base.strange import file_name

MOST_POINTS = 2000  # of one curve; a screen has no more
MOST_POINTS_IN_ALL = 30_000  # of all curves of a plot: beyond it SVG gets slow, and the page large
MOST_IN_LEGEND = 8

Symbol = Literal["", "circle", "triangle", "cross", "star"]
Dash = Literal["solid", "dash", "dot", "dashdot"]


@dataclass(frozen=True, eq=False)
class Line:
    """A curve, an area or single events; nan is a gap."""

    x: Floats
    y: Floats
    name: str
    colour: str
    width: float = 1.5  # 0: nothing joins the points
    dash: Dash = "solid"
    step: bool = False  # a value holds until the next one
    opacity: float = 1.0
    symbol: Symbol = ""  # at each point
    size: float = 7  # of the symbol
    low: Floats | None = None  # the area between it and y is filled, and nothing else drawn
    listed: bool = True  # in the legend
    on_demand: bool = False  # not drawn unless a reader of the page chooses it
    label: str = ""  # stands beside the last point, instead of in the legend
    group: str = ""  # is shown and hidden with the lines of the same group; by default its name


@dataclass(frozen=True)
class Span:
    """A part of the x axis that is shaded over the whole height."""

    start: float
    end: float
    colour: str
    text: str = ""


@dataclass(frozen=True)
class Axis:
    """What stands at an axis, and how far it reaches: by default as far as the lines do."""

    label: str = ""
    low: float | None = None
    high: float | None = None
    log: bool = False
    from_zero: bool = True  # a y axis shows 0, whatever the lines do
    ticks: dict[str, float] = field(default_factory=dict)  # places with names of their own
    spans: tuple[Span, ...] = ()
    marks: dict[str, float] = field(default_factory=dict)  # named places with a line across
    is_time: bool = False  # the page zooms those together


@dataclass(frozen=True)
class Panel:
    """Lines that share a y axis."""

    lines: list[Line]
    y: Axis = Axis()
    share: float = 1.0  # of the height, in relation to the other panels


@dataclass(frozen=True)
class Plot:
    """One figure: its heading, what the reader should know about it, its panels from top to bottom, its file's name."""

    title: str
    note: str
    panels: list[Panel]
    x: Axis = Axis()
    name: str = ""  # by default made of the title

    @property
    def slug(self) -> str:
        """What a file of it is called, without the suffix."""
        return file_name(self.name) or re.sub(r"[^a-z0-9]+", "-", self.title.lower()).strip("-") or "plot"

    @property
    def lines(self) -> list[Line]:
        """Those of all panels."""
        return [line for panel in self.panels for line in panel.lines]

    @property
    def legend(self) -> list[Line]:
        """The lines that need a name beside the plot; none where they are one or too many."""
        listed = [line for line in self.lines if line.listed and not line.on_demand and not line.label]
        return listed if len(self.lines) > 1 and len(listed) <= MOST_IN_LEGEND else []

    def as_dict(self) -> dict[str, Any]:
        """For the page: lines refer to their numbers by position, as many share their x."""
        numbers: dict[str, int] = {}

        def held(values: Floats) -> int:
            packed = base64.b64encode(np.ascontiguousarray(values, "<f4").tobytes()).decode()
            return numbers.setdefault(packed, len(numbers))

        def told(line: Line) -> dict[str, Any]:
            arrays = {name: held(value) for name, value in vars(line).items() if isinstance(value, np.ndarray)}
            return vars(line) | arrays | {"group": line.group or line.name}

        panels = [vars(panel) | {"lines": [told(line) for line in panel.lines]} for panel in self.panels]
        legend = [line.name for line in self.legend]
        return vars(self) | {"panels": panels, "legend": legend, "numbers": list(numbers)}


def curves(x: Floats, columns: Floats, names: Sequence[str]) -> list[Line]:
    """A line per column. Many have one colour and show the spread, which is the point; names come with the pointer."""
    if len(names) <= MOST_IN_LEGEND:
        return [Line(x, columns[:, i], name, f"c{i}") for i, name in enumerate(names)]
    return [Line(x, columns[:, i], name, "accent", width=1, opacity=0.35) for i, name in enumerate(names)]


def ms(seconds: Floats) -> Floats:
    """Time axes are in milliseconds."""
    return np.asarray(1e3 * seconds)


def over_time(duration: float, warmup: float = 0.0) -> Axis:
    """The axis of nominal time, s, with the warm-up shaded."""
    shade = Span(0, 1e3 * min(warmup, duration), "shade")
    spans = (shade,) if warmup > 0 else ()
    return Axis("ms, nominal", 0, 1e3 * duration, spans=spans, is_time=True)


# Thinning out


def points_of(curves: int) -> int:
    """How many points each of so many curves may have."""
    return int(np.clip(MOST_POINTS_IN_ALL // max(curves, 1), 200, MOST_POINTS))


def evenly(samples: int, most: int) -> Ints:
    """At most ``most`` indices, first and last among them."""
    return np.unique(np.linspace(0, max(samples - 1, 0), min(samples, most)).round().astype(np.int64))


def spread(time: Floats, most: int) -> Ints:
    """At most ``most`` indices of samples that are apart in time, first and last among them.

    A busy machine takes two samples in quick succession after a long pause; the growth between such two would be
    mostly the error of their times.
    """
    if len(time) < 3:
        return np.arange(len(time))
    gap = max((time[-1] - time[0]) / max(most - 1, 1), float(np.median(np.diff(time))) / 2) * (1 - 1e-6)
    kept = [0]
    while (after := max(int(np.searchsorted(time, time[kept[-1]] + gap)), kept[-1] + 1)) < len(time):  # also if damaged
        kept.append(after)
    last = len(time) - 1
    if kept[-1] != last:
        kept[-1 if len(kept) > 1 else 1 :] = [last]
    return np.array(kept)


def from_start(time: Floats, counter: Floats) -> tuple[Floats, Floats]:
    """Cumulative columns with the zeros they began with: the first sample may be late, and a start is eventful."""
    if not len(time) or time[0] <= 0:
        return time, counter
    return np.concatenate(([0.0], time)), np.concatenate((np.zeros_like(counter[:1]), counter))


def growth_rate(time: Floats, counter: Floats) -> tuple[Floats, Floats]:
    """Mean growth of cumulative columns between samples, placed in the middle: thinned-out samples lose nothing."""
    steps = np.diff(time)
    return (time[1:] + time[:-1]) / 2, np.diff(counter, axis=0) / np.where(steps > 0, steps, np.nan)[:, None]
