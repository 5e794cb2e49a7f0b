"""Figures as curves over what was swept: an option with numbers, or else the scenarios side by side."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from testbed.base.arrays import Floats
from testbed.results.compare.comparison import Comparison
from testbed.results.compare.looks import COLOURS, DASHES, SYMBOLS, colour_of, slug
from testbed.results.compare.swept import Series, Swept, swept
from testbed.results.compare.variants import Variant
from testbed.results.figures.registry import Figure
from testbed.results.report.plot import Axis, Line, Panel, Plot
from testbed.results.summary import COMPARED

DRAWN = ("su", "fr_flows", "jain_flows", "ql_mean", "ql_p99", "rtt_p99", "goodput", "loss")
SLOWDOWN = ("slowdown_p50", "slowdown_p99")  # in one plot
LOG_FROM = 50  # largest / smallest median of a figure that should be low
SPREAD = 0.6  # of the step from one scenario to the next, taken by its contenders side by side


def trends(comparison: Comparison) -> list[Plot]:
    """A plot per figure and swept option: medians as dots, intervals as bars."""
    axes = swept(comparison.variants)
    plots = [plot for one in axes for plot in _over(comparison, one)]
    if len(comparison.scenarios) > 1 and not any(one.of_scenario for one in axes):
        known = {metric.name for metric in comparison.metrics}
        plots += [_side_by_side(comparison, COMPARED[name]) for name in (*DRAWN, *SLOWDOWN) if name in known]
    return plots


def _over(comparison: Comparison, axis: Swept) -> list[Plot]:
    """One option's plots, of what is not 0 or unknown everywhere."""
    told = [name for name in (*DRAWN, *SLOWDOWN) if np.nan_to_num(_values(comparison, axis, name)).any()]
    plots = [_curves(comparison, axis, (COMPARED[name],)) for name in DRAWN if name in told]
    slowdowns = tuple(COMPARED[name] for name in SLOWDOWN if name in told)
    return [*plots, *([_curves(comparison, axis, slowdowns)] if slowdowns else [])]


def _values(comparison: Comparison, axis: Swept, name: str) -> Floats:
    every = [one for series in axis.series for one in series.variants if comparison.comparable(one, name)]
    return np.array([one.estimate(name).median for one in every], float) * COMPARED[name].scale


def _curves(comparison: Comparison, axis: Swept, metrics: Sequence[Figure]) -> Plot:
    """Of one figure, or of two quantiles of it: the second is dashed."""
    x = axis.axis
    bars: list[Line] = []
    curves: list[Line] = []
    for number, series in enumerate(axis.series):
        colour = _colour(comparison, axis, number)
        for which, metric in enumerate(metrics):
            word = f" {metric.word}" if len(metrics) > 1 else ""
            name = f"{series.name}{word}"
            bars.append(_bars(comparison, axis, series, metric, colour))
            at, values = _medians(comparison, axis, series, metric)
            level = not series.at
            at, values = (np.array([x.low, x.high], float), values.repeat(2)) if level else (at, values)
            dash = "dot" if level else DASHES[(number // COLOURS + which) % len(DASHES)]
            symbol = "" if level else SYMBOLS[(number + which) % len(SYMBOLS)]
            label = name if len(axis.series) * len(metrics) > 1 else ""
            curves.append(Line(at, values, name, colour, dash=dash, symbol=symbol, label=label))
    metric = metrics[-1]
    values = np.concatenate([_values(comparison, axis, one.name) for one in metrics])
    values = values[np.isfinite(values)]
    log = metric.name in SLOWDOWN or (
        metric.better == "lower" and min(values) > 0 and max(values) >= LOG_FROM * min(values)
    )
    title = f"{metric.row if len(metrics) > 1 else metric.label} over {axis.key}"
    note = f"{metric.readers_unit or 'index'}, {metric.better} is better; dots: medians, bars: intervals"
    if any(not series.at for series in axis.series):
        note += "; dotted: without the option"
    y = Axis(from_zero=metric.better == "lower", log=bool(log))
    return Plot(title, note, [Panel([*bars, *curves], y)], x, slug(f"{metrics[-1].name}-over-{axis.key}"))


def _medians(comparison: Comparison, axis: Swept, series: Series, metric: Figure) -> tuple[Floats, Floats]:
    at = np.array(series.at or [np.nan]) * axis.scale
    values = [
        one.estimate(metric.name).median if comparison.comparable(one, metric.name) else np.nan
        for one in series.variants[: len(at)]
    ]
    return at, np.array(values, float) * metric.scale


def _bars(comparison: Comparison, axis: Swept, series: Series, metric: Figure, colour: str) -> Line:
    own = list(zip(series.variants, series.at, strict=False))
    own = [(one, place) for one, place in own if comparison.comparable(one, metric.name)]
    at = np.array([place for _, place in own], float) * axis.scale
    return Line(np.repeat(at, 3), _ends([one for one, _ in own], metric), series.name, colour, width=4, opacity=0.35,
                listed=False)  # fmt: skip


def _ends(variants: Sequence[Variant], metric: Figure) -> Floats:
    """The ends of each interval, and a gap."""
    found = [one.estimate(metric.name) for one in variants]
    return np.array([[one.low, one.high, np.nan] for one in found], float).ravel() * metric.scale


def _colour(comparison: Comparison, axis: Swept, number: int) -> str:
    """The contender's, as in the other plots, where each series is of another one; else by number."""
    contenders = [{one.contender for one in series.variants} for series in axis.series]
    every = [name for names in contenders for name in names]
    if all(len(names) == 1 for names in contenders) and len(set(every)) == len(every):
        return colour_of(comparison, every[number])
    return f"c{number % COLOURS}"


def _side_by_side(comparison: Comparison, metric: Figure) -> Plot:
    """Over scenarios that differ in more than numbers."""
    scenarios, contenders = list(comparison.scenarios), comparison.contenders
    offsets = np.linspace(-SPREAD / 2, SPREAD / 2, len(contenders) + 2)[1:-1]
    intervals, medians = [], []
    for number, contender in enumerate(contenders):
        own = [one for one in comparison.variants if one.contender == contender]
        own = [one for one in own if comparison.comparable(one, metric.name)]
        at = np.array([scenarios.index(one.scenario) + offsets[number] for one in own], float)
        colour = colour_of(comparison, contender)
        intervals.append(Line(np.repeat(at, 3), _ends(own, metric), contender, colour, width=2.5, opacity=0.5,
                              listed=False))  # fmt: skip
        values = np.array([one.estimate(metric.name).median for one in own]) * metric.scale
        medians.append(Line(at, values, contender, colour, width=0, symbol=SYMBOLS[number % len(SYMBOLS)]))
    x = Axis("", -0.6, len(scenarios) - 0.4, ticks={name: float(place) for place, name in enumerate(scenarios)})
    panel = Panel([*intervals, *medians], Axis(from_zero=metric.better == "lower"))
    note = f"{metric.readers_unit or 'index'}, {metric.better} is better; dots: medians, bars: intervals"
    return Plot(metric.label, note, [panel], x, slug(f"{metric.name}-over-scenarios"))
