"""The same plots on paper: `Plot` drawn by matplotlib as SVG, in the page's light colours, with text as text."""

from __future__ import annotations

import io
import logging
import math
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np

from testbed.base.extras import how_to_get, missing, need
from testbed.results.report.page import asset
from testbed.results.report.plot import Axis, Line, Plot

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

log = logging.getLogger(__package__)
SIZE = (7.0, 3.2)  # inches: the width of a page's text
SIZE_PER_PANEL = 1.3  # more height for each panel below the first
LEGEND_COLUMNS = 6
MARGIN = 0.6  # inches to the left of the panels
LABELS = 0.42, 0.24  # inches from the panels to their labels: to find a place for them draws all numbers once more
MARK_ROWS = 4  # above each other, in which marks have their names in turn
LETTER, NAME = 3.9, 8.5  # points, of a name beside a line: width of a letter, and height

_SYMBOLS = {"": "", "circle": "o", "triangle": "v", "cross": "X", "star": "*"}
_DASHES = {"solid": "-", "dot": ":", "dash": "--", "dashdot": "-."}
SETTINGS: Any = {
    "svg.fonttype": "none", "svg.hashsalt": "testbed", "font.size": 8, "axes.linewidth": 0.6, "legend.fontsize": 7,
    "font.family": "sans-serif", "path.simplify_threshold": 0.3,
    "text.parse_math": False,
}  # fmt: skip


def figure(plot: Plot, size: tuple[float, float] | None = None) -> Figure:
    """The plot as a figure of matplotlib, which writes PDF, PNG and others as well; ``size`` in inches."""
    need("matplotlib")
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context(SETTINGS):
        drawn = Figure(figsize=size or (SIZE[0], SIZE[1] + SIZE_PER_PANEL * (len(plot.panels) - 1)))
        _draw(plot, drawn)
    return drawn


def svgs(plots: Sequence[Plot]) -> dict[str, str]:
    """File name to SVG; none where matplotlib is not installed."""
    if missing("matplotlib"):
        log.warning("no plots are drawn for print: to have them, %s", how_to_get(["matplotlib"]))
        return {}
    return {f"{plot.slug}.svg": svg(plot) for plot in plots}


def svg(plot: Plot) -> str:
    """The plot as an SVG file: the same text for the same plot."""
    import matplotlib as mpl

    drawn = figure(plot)
    with mpl.rc_context(SETTINGS):
        return as_svg(drawn, plot.title)


@contextmanager
def drawing(size: tuple[float, float]) -> Iterator[Figure]:
    """A figure of so many inches, to be drawn, and made `as_svg`, under `SETTINGS`."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context(SETTINGS):
        yield Figure(size, layout="constrained")


def as_svg(drawn: Figure, title: str) -> str:
    """A figure of matplotlib under `SETTINGS` as SVG: the same text for the same figure."""
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    sink, canvas = io.StringIO(), cast("Any", FigureCanvasSVG(drawn))  # `savefig` would draw twice to lay it out
    canvas.print_svg(sink, metadata={"Date": None, "Creator": "testbed", "Title": title})
    return sink.getvalue()


def standalone(inline: str) -> str:
    """An inline SVG as a file: the page's CSS variables replaced by their light values."""
    return re.sub(r"var\(--([\w-]+)\)", lambda match: theme()[match[1]], inline) + "\n"


def theme() -> dict[str, str]:
    """The page's light colours by name, from its stylesheet."""
    first = asset("page.css").partition("}")[0]
    return dict(re.findall(r"--([\w-]+):\s*([^;]+);", first))


def _draw(plot: Plot, figure: Figure) -> None:
    shares = [panel.share for panel in plot.panels]
    panels = figure.subplots(len(shares), 1, sharex=True, squeeze=False, height_ratios=shares)[:, 0]
    colours, legend = theme(), plot.legend
    for panel, axes in zip(plot.panels, panels, strict=True):
        _style(axes, panel.y, colours)
        for line in panel.lines:
            if not line.on_demand:
                _line(axes, line, colours, line.name if line in legend else "_")
        for span in plot.x.spans:
            colour, opacity = _colour(span.colour, colours)
            axes.axvspan(span.start, span.end, color=colour, alpha=opacity, linewidth=0, zorder=0)
        for number, (text, place) in enumerate(sorted(plot.x.marks.items(), key=lambda mark: mark[1])):
            axes.axvline(place, color=colours["limit"], linewidth=1, linestyle=":")
            raised = 4 + NAME * (number % MARK_ROWS)
            at = {"xycoords": axes.get_xaxis_transform(), "xytext": (3, raised), "textcoords": "offset points"}
            if axes is panels[0]:
                axes.annotate(text.strip(), (place, 0), fontsize=7, **at)
    for panel, axes in zip(plot.panels, panels, strict=True):
        _limit(axes, panel.y)
    _ticks(panels[-1], "x", plot.x)
    panels[-1].set_xlabel(plot.x.label)
    if plot.x.low is not None and plot.x.high is not None and plot.x.low < plot.x.high:
        panels[-1].set_xlim(plot.x.low, plot.x.high)
    _head(plot, figure, panels[0])
    for panel, axes in zip(plot.panels, panels, strict=True):
        _names(axes, [line for line in panel.lines if line.label], colours)


def _names(axes: Axes, lines: Sequence[Line], colours: dict[str, str]) -> None:
    """Beside their last points, below each other where they would lie on one another or on a point."""
    axes.autoscale_view()
    ends = [(line, np.flatnonzero(np.isfinite(line.y))) for line in lines]
    points = [(line, (line.x[known[-1]], line.y[known[-1]])) for line, known in ends if len(known)]
    placed = [(line, at, axes.transData.transform(at) * 72 / axes.figure.dpi) for line, at in points]
    taken = [(x - NAME / 2, y, NAME) for _, _, (x, y) in placed]  # left end, height, width
    for line, at, (x, y) in sorted(placed, key=lambda one: (-one[2][1], one[2][0])):
        left, wide, lower = x + NAME / 2, LETTER * len(line.label), y
        for other, height, width in sorted(taken, key=lambda one: -one[1]):
            if left < other + width and other < left + wide and abs(lower - height) < NAME:
                lower = height - NAME
        taken.append((left, lower, wide))
        where: Any = {"xytext": (NAME / 2, lower - y - 2.5), "textcoords": "offset points", "fontsize": 7}
        axes.annotate(line.label, at, color=_colour(line.colour, colours)[0], **where)


def _head(plot: Plot, figure: Figure, top: Axes) -> None:
    """Title, note and legend. Margins are fixed, in inches: finding them out would draw everything twice."""
    wide, high = figure.get_size_inches()
    left, columns = MARGIN / wide, max(1, int(LEGEND_COLUMNS * wide / SIZE[0]))
    rows = math.ceil(len(plot.legend) / columns)
    if rows:
        handles = [one for axes in figure.axes for one in axes.get_legend_handles_labels()[0]]
        place: Any = {"loc": "lower left", "bbox_to_anchor": (0, 1), "borderaxespad": 0.1}
        top.legend(handles=handles, ncols=columns, frameon=False, **place)
    above, below = (0.5 if plot.title else 0.1) + 0.16 * rows, 0.45 / high
    longest = max((len(line.label) for line in plot.lines), default=0)
    right = min(0.15 + LETTER * longest / 72, wide / 3)
    figure.subplots_adjust(left=left, right=1 - right / wide, bottom=below, top=max(1 - above / high, below + 0.1))
    for axes in figure.axes:
        panel = axes.get_position()
        axes.yaxis.set_label_coords(-LABELS[0] / (wide * panel.width), 0.5)
        axes.xaxis.set_label_coords(0.5, -LABELS[1] / (high * panel.height))
    figure.text(left, 1 - 0.2 / high, plot.title, fontweight="bold", fontsize=9)
    figure.text(left, 1 - 0.38 / high, plot.note, fontsize=7, color=theme()["muted"])


def _style(axes: Axes, axis: Axis, colours: dict[str, str]) -> None:
    axes.grid(color=colours["rule"], linewidth=0.5)
    axes.set_axisbelow(True)
    for spine in axes.spines.values():
        spine.set_color(colours["faint"])
    axes.tick_params(color=colours["faint"], length=2)
    axes.set_ylabel(axis.label)
    _ticks(axes, "y", axis)


def _line(axes: Axes, line: Line, colours: dict[str, str], label: str) -> None:
    colour, opacity = _colour(line.colour, colours)
    if line.low is not None:
        axes.fill_between(line.x, line.low, line.y, color=colour, alpha=opacity, linewidth=0, label=label)
        return
    dots: Any = {"marker": _SYMBOLS[line.symbol], "markersize": 0.5 * line.size, "markeredgewidth": 0}
    dash = _DASHES[line.dash] if line.width else "none"
    how: Any = {"drawstyle": "steps-post" if line.step else "default", "linewidth": 0.75 * line.width}
    axes.plot(line.x, line.y, linestyle=dash, color=colour, alpha=line.opacity, label=label, **dots, **how)


def _limit(axes: Axes, axis: Axis) -> None:
    """As far as the axis says, else as far as the lines reach."""
    if axis.low is not None or axis.high is not None:
        axes.set_ylim(axis.low, axis.high)
    elif axis.from_zero and not axis.log:
        lowest = axes.dataLim.y0
        axes.set_ylim(bottom=min(0, lowest if np.isfinite(lowest) else 0))


def _ticks(axes: Axes, which: Literal["x", "y"], axis: Axis) -> None:
    """Ticks with numbers as plain text: powers would need mathtext."""
    from matplotlib.ticker import LogLocator, NullFormatter, NullLocator

    one = axes.xaxis if which == "x" else axes.yaxis
    if axis.log:
        axes.set(**{f"{which}scale": "log"})
        one.set_major_locator(LogLocator(subs=(1, 3)))
        one.set_major_formatter("{x:g}")
        one.set_minor_formatter(NullFormatter())
    if axis.ticks:
        one.set_ticks(list(axis.ticks.values()), list(axis.ticks))
        one.set_minor_locator(NullLocator())


def _colour(name: str, colours: dict[str, str]) -> tuple[Any, float]:
    """A matplotlib colour and its opacity."""
    text = colours[name]
    if text.startswith("rgba"):
        red, green, blue, alpha = (float(part) for part in re.findall(r"[\d.]+", text))
        return (red / 255, green / 255, blue / 255), alpha
    return text, 1.0
