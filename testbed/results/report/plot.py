"""What every plot is made of: plotly's figures in plain JSON, saying what is drawn and not how it looks.

Colours are the names of CSS variables (``@accent``); whoever draws resolves them, so that a plot follows the theme of
its page, and of paper (`testbed.results.report.vector`). plotly's Python side would cost half a second and add nothing.
"""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from testbed.base.arrays import Floats, Ints

MOST_POINTS = 2000  # of one curve; a screen has no more
MOST_POINTS_IN_ALL = 60_000  # of all curves of a plot: beyond it SVG gets slow

Trace = dict[str, Any]


@dataclass(frozen=True)
class Plot:
    """One figure: its heading, what the reader should know about it, plotly's data and layout, and its file's name."""

    title: str
    note: str
    data: list[Trace]
    layout: dict[str, Any] = field(default_factory=dict)
    name: str = ""  # by default made of the title

    @property
    def slug(self) -> str:
        """What a file of it is called, without the suffix."""
        return self.name or re.sub(r"[^a-z0-9]+", "-", self.title.lower()).strip("-") or "plot"


def line(
    x: Floats, y: Floats, name: str, colour: str, *, width: float = 1.5, dash: str = "solid", step: bool = False,
    opacity: float = 1.0,
) -> Trace:  # fmt: skip
    """A curve. ``step``: a value holds until the next one."""
    return {
        "type": "scatter",
        "mode": "lines",
        "name": name,
        "x": packed(x),
        "y": packed(y),
        "opacity": opacity,
        "line": {"color": colour, "width": width, "dash": dash, "shape": "hv" if step else "linear"},
        "hovertemplate": "%{y:.4g} at %{x:.4g}",
    }


def marks(x: Floats, y: Floats, name: str, colour: str, symbol: str = "circle", *, size: float = 7) -> Trace:
    """Single events."""
    return {
        "type": "scatter",
        "mode": "markers",
        "name": name,
        "x": packed(x),
        "y": packed(y),
        "marker": {"color": colour, "symbol": symbol, "size": size, "line": {"color": "@paper", "width": 1}},
        "hovertemplate": "%{y:.4g} at %{x:.4g}",
    }


def packed(values: NDArray[Any]) -> dict[str, str]:
    """Plotly's binary form: four bytes a number and nothing to parse; nan is a gap."""
    return {"dtype": "f4", "bdata": base64.b64encode(np.ascontiguousarray(values, "<f4").tobytes()).decode()}


def unpacked(values: Any) -> NDArray[Any]:
    """The numbers in a trace, be they packed or a list."""
    if isinstance(values, dict):
        return np.frombuffer(base64.b64decode(values["bdata"]), f"<{values['dtype']}")
    return np.asarray(values)


def ms(seconds: Floats) -> Floats:
    """Time axes are in milliseconds."""
    return np.asarray(1e3 * seconds)


def over_time(duration: float, warmup: float = 0.0) -> dict[str, Any]:
    """The layout of a plot over nominal time, s, with the warm-up shaded."""
    shade = {
        "type": "rect", "x0": 0, "x1": 1e3 * min(warmup, duration), "y0": 0, "y1": 1, "yref": "paper",
        "layer": "below", "fillcolor": "@shade", "line": {"width": 0},
    }  # fmt: skip
    return {
        "xaxis": {"title": {"text": "ms, nominal"}, "range": [0, 1e3 * duration]},
        "yaxis": {"rangemode": "tozero"},
        "shapes": [shade] if warmup > 0 else [],
        "meta": "over time",  # the page zooms these together
    }


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
    while (after := int(np.searchsorted(time, time[kept[-1]] + gap))) < len(time):
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
