"""The same plots on paper: `Plot` drawn by matplotlib as SVG, in the page's light colours, with text as text.

Knows what our plots use of plotly: scatter traces (lines, markers, areas), panels on one x axis, shapes, annotations.
"""

from __future__ import annotations

import io
import math
import re
from typing import TYPE_CHECKING, Any

import numpy as np

from testbed.results.report.page import asset
from testbed.results.report.plot import Plot, Trace, unpacked

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SIZE = (7.0, 3.2)  # inches: the width of a page's text
SIZE_PER_PANEL = 1.3  # more height for each panel below the first
MOST_IN_LEGEND = 8
LEGEND_COLUMNS = 6

_MARKERS = {
    "circle": "o",
    "triangle-down": "v",
    "triangle-up": "^",
    "x": "X",
    "star": "*",
    "diamond": "D",
    "square": "s",
}
_DASHES = {"solid": "-", "dot": ":", "dash": "--", "dashdot": "-."}
_SETTINGS: Any = {
    "svg.fonttype": "none", "svg.hashsalt": "testbed", "font.size": 8, "axes.linewidth": 0.6, "legend.fontsize": 7,
    "font.family": "sans-serif", "path.simplify_threshold": 0.3,
    "text.parse_math": False,
}  # fmt: skip


def svg(plot: Plot) -> str:
    """The plot as an SVG file: the same text for the same plot."""
    import matplotlib as mpl
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    with mpl.rc_context(_SETTINGS):
        panels = sorted(key for key in plot.layout if key.startswith("yaxis")) or ["yaxis"]
        figure = Figure(figsize=(SIZE[0], SIZE[1] + SIZE_PER_PANEL * (len(panels) - 1)))
        FigureCanvasSVG(figure)
        _draw(plot, panels, figure)
        sink = io.StringIO()
        figure.savefig(sink, format="svg", metadata={"Date": None, "Creator": "testbed", "Title": plot.title})
    return sink.getvalue()


def standalone(inline: str) -> str:
    """An inline SVG as a file: the page's CSS variables replaced by their light values."""
    return re.sub(r"var\(--([\w-]+)\)", lambda match: theme()[match[1]], inline) + "\n"


def theme() -> dict[str, str]:
    """The page's light colours by name, from its stylesheet."""
    first = asset("page.css").partition("}")[0]
    return dict(re.findall(r"--([\w-]+):\s*([^;]+);", first))


def _draw(plot: Plot, panels: list[str], figure: Figure) -> None:
    colours = theme()
    heights = [np.ptp(plot.layout.get(key, {}).get("domain", [0, 1])) for key in panels]
    axes = figure.subplots(len(panels), 1, sharex=True, squeeze=False, height_ratios=heights)[:, 0]
    by_name = {f"y{key.removeprefix('yaxis')}": one for key, one in zip(panels, axes, strict=True)}
    for key, one in zip(panels, axes, strict=True):
        _style(one, plot.layout.get(key, {}), colours)
    shown = plot.layout.get("showlegend", 1 < len(plot.data) <= MOST_IN_LEGEND)
    previous: Trace | None = None
    for trace in plot.data:
        _trace(by_name[trace.get("yaxis", "y")], trace, previous, colours, shown)
        previous = trace
    for one in axes:
        _shapes(one, plot.layout, colours)
    _limits(plot, panels, axes)
    xaxis = plot.layout.get("xaxis", {})
    if "tickvals" in xaxis:
        axes[-1].set_xticks(xaxis["tickvals"], xaxis["ticktext"])
    axes[-1].set_xlabel(plot.layout.get("xaxis", {}).get("title", {}).get("text", ""))
    _head(plot, figure, axes[0])


def _head(plot: Plot, figure: Figure, top: Axes) -> None:
    """Title, note and legend. Margins are fixed, in inches: finding them out would draw everything twice."""
    high, left = figure.get_figheight(), 0.6 / SIZE[0]
    rows = math.ceil(len(top.get_legend_handles_labels()[0]) / LEGEND_COLUMNS)
    if rows:
        top.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=LEGEND_COLUMNS, frameon=False, borderaxespad=0.1)
    above = 0.5 + 0.16 * rows
    figure.subplots_adjust(left=left, right=1 - 0.15 / SIZE[0], bottom=0.45 / high, top=1 - above / high)
    figure.text(left, 1 - 0.2 / high, plot.title, fontweight="bold", fontsize=9)
    figure.text(left, 1 - 0.38 / high, plot.note, fontsize=7, color=theme()["muted"])


def _style(axes: Axes, axis: dict[str, Any], colours: dict[str, str]) -> None:
    axes.grid(color=colours["rule"], linewidth=0.5)
    axes.set_axisbelow(True)
    for spine in axes.spines.values():
        spine.set_color(colours["faint"])
    axes.tick_params(color=colours["faint"], length=2)
    axes.set_ylabel(axis.get("title", {}).get("text", ""))
    if axis.get("type") == "log":
        axes.set_yscale("log")
    if "tickvals" in axis:
        axes.set_yticks(axis["tickvals"], axis["ticktext"])
        axes.minorticks_off()


def _trace(axes: Axes, trace: Trace, previous: Trace | None, colours: dict[str, str], labelled: bool) -> None:
    if trace["type"] != "scatter":
        raise ValueError(f"a plot on paper cannot have traces of type {trace['type']}")
    x, y = unpacked(trace["x"]), unpacked(trace["y"])
    style = trace.get("line", {})
    step = style.get("shape") == "hv"
    label = trace["name"] if labelled and trace.get("showlegend", True) else "_"
    alpha = trace.get("opacity", 1.0)
    if trace.get("fill") == "tonexty" and previous is not None:
        colour, opacity = _colour(trace["fillcolor"], colours)
        axes.fill_between(x, unpacked(previous["y"]), y, color=colour, alpha=opacity, linewidth=0, label=label)
    elif "markers" in trace["mode"]:
        marker = trace["marker"]
        colour, _ = _colour(marker["color"], colours)
        kind = _MARKERS[marker.get("symbol", "circle")]
        size = 0.5 * marker["size"]
        joined = "-" if "lines" in trace["mode"] else "none"
        dots = {"marker": kind, "markersize": size, "markeredgewidth": 0}
        axes.plot(x, y, linestyle=joined, linewidth=0.7, color=colour, label=label, **dots)
    elif style.get("width", 1):
        colour, _ = _colour(style["color"], colours)
        dash = _DASHES[style.get("dash", "solid")]
        how = "steps-post" if step else "default"
        width = 0.75 * style["width"]
        axes.plot(x, y, dash, color=colour, linewidth=width, alpha=alpha, drawstyle=how, label=label)


def _shapes(axes: Axes, layout: dict[str, Any], colours: dict[str, str]) -> None:
    for shape in layout.get("shapes", ()):
        if shape["type"] == "rect":
            colour, opacity = _colour(shape["fillcolor"], colours)
            axes.axvspan(shape["x0"], shape["x1"], color=colour, alpha=opacity, linewidth=0, zorder=0)
        else:
            style = shape["line"]
            colour, _ = _colour(style["color"], colours)
            dash = _DASHES[style.get("dash", "solid")]
            axes.axvline(shape["x0"], color=colour, linewidth=style["width"], linestyle=dash)
    for note in layout.get("annotations", ()):
        place = axes.get_xaxis_transform() if note.get("yref") == "paper" else axes.transData
        axes.annotate(note["text"], (note["x"], note["y"]), xycoords=place, xytext=(3, 2), textcoords="offset points")


def _limits(plot: Plot, panels: list[str], axes: Any) -> None:
    if "range" in (xaxis := plot.layout.get("xaxis", {})) and xaxis["range"][0] < xaxis["range"][1]:
        axes[-1].set_xlim(*xaxis["range"])
    for key, one in zip(panels, axes, strict=True):
        axis = plot.layout.get(key, {})
        if "range" in axis:
            one.set_ylim(*axis["range"])
        elif axis.get("rangemode") == "tozero" and one.get_ylim()[0] > 0:
            one.set_ylim(bottom=0)
        elif axis.get("rangemode") == "tozero":
            one.set_ylim(bottom=min(0, one.dataLim.y0 if np.isfinite(one.dataLim.y0) else 0))


def _colour(value: str, colours: dict[str, str]) -> tuple[Any, float]:
    """A matplotlib colour and its opacity."""
    text = colours[value[1:]] if value.startswith("@") else value
    if text.startswith("rgba"):
        red, green, blue, alpha = (float(part) for part in re.findall(r"[\d.]+", text))
        return (red / 255, green / 255, blue / 255), alpha
    return text, 1.0
