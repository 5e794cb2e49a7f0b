"""The plots of a comparison: figures over the scenarios, and the curves of each scenario on top of each other."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import numpy as np

from testbed.results.compare.comparison import Comparison
from testbed.results.compare.curves import Curve, Curves
from testbed.results.compare.runs import Run
from testbed.results.compare.variants import Variant
from testbed.results.figures.registry import Figure
from testbed.results.report.plot import Axis, Dash, Line, Panel, Plot, over_time
from testbed.results.summary import COMPARED

DRAWN = ("su", "fr_flows", "jain_flows", "ql_mean", "ql_p99", "rtt_p99", "goodput", "loss", "slowdown_p99")
COLOURS = 8
DASHES: tuple[Dash, ...] = ("solid", "dash", "dot", "dashdot")
SPREAD = 0.6  # of the step from one scenario to the next, taken by its contenders side by side
MOST_SCENARIOS = 12  # whose curves are drawn: a page with more gets slow

Drawn = tuple[str, str, Callable[[Curves], Curve], float, float, str]  # title, note, curve, scales of x and y, name
OVER_TIME: tuple[Drawn, ...] = (
    ("Queue latency", "us at the bottleneck, means over time", lambda drawn: drawn.queue, 1e3, 1e6, "queue"),
    ("Goodput", "Gbit/s, all flows", lambda drawn: drawn.goodput, 1e3, 1e-9, "goodput"),
    ("Fairness", "Jain's index of the flows", lambda drawn: drawn.jain, 1e3, 1, "fairness"),
)
RTT: Drawn = ("RTT", "share of acknowledgements with at most this RTT", lambda drawn: drawn.rtt, 1e6, 1, "rtt")


def trends(comparison: Comparison) -> list[Plot]:
    """One plot per metric, over the scenarios: medians as dots, intervals as bars. None for a single scenario."""
    known = {metric.name for metric in comparison.metrics} if len(comparison.scenarios) > 1 else ()
    return [_medians(comparison, COMPARED[name]) for name in DRAWN if name in known]


def overlays(comparison: Comparison) -> dict[str, list[Plot]]:
    """Scenario to its plots; only the first `MOST_SCENARIOS`."""
    kept = list(comparison.scenarios.items())[:MOST_SCENARIOS]
    return {scenario: _overlaid(comparison, scenario, here) for scenario, here in kept}


def _medians(comparison: Comparison, metric: Figure) -> Plot:
    scenarios, contenders = list(comparison.scenarios), comparison.contenders
    offsets = np.linspace(-SPREAD / 2, SPREAD / 2, len(contenders) + 2)[1:-1]
    intervals, medians = [], []
    for number, contender in enumerate(contenders):
        own = [one for one in comparison.variants if one.contender == contender]
        own = [one for one in own if comparison.comparable(one, metric.name)]
        at = np.array([scenarios.index(one.scenario) + offsets[number] for one in own], float)
        found = [one.estimate(metric.name) for one in own]
        ends = np.array([[one.low, one.high, np.nan] for one in found]).ravel() * metric.scale
        colour = colour_of(comparison, contender)
        bars = Line(np.repeat(at, 3), ends, contender, colour, width=2.5, opacity=0.5, listed=False)
        intervals.append(bars)
        values = np.array([one.median for one in found]) * metric.scale
        medians.append(Line(at, values, contender, colour, width=0.7, symbol="circle"))
    x = Axis("", -0.6, len(scenarios) - 0.4, ticks={name: float(place) for place, name in enumerate(scenarios)})
    panel = Panel([*intervals, *medians], Axis(from_zero=metric.better == "lower"))
    note = f"{metric.readers_unit or 'index'}, {metric.better} is better; dots: medians, bars: intervals"
    return Plot(metric.label, note, [panel], x, f"median-{metric.name.replace('_', '-')}")


def _overlaid(comparison: Comparison, scenario: str, here: Sequence[Variant]) -> list[Plot]:
    runs = [run for one in here for run in one.runs]
    duration = max((run.summary.duration for run in runs), default=0.0)
    warmup = min((run.summary.window_start for run in runs), default=0.0)
    x, share = over_time(duration, warmup), Axis(low=0, high=1.04)
    plots = []
    for drawn in OVER_TIME:
        plots.append(_overlay(comparison, scenario, here, drawn, (x, share if drawn[0] == "Fairness" else Axis())))
    return [*plots, _overlay(comparison, scenario, here, RTT, (Axis("us"), Axis(low=0, high=1.02)))]


def _overlay(
    comparison: Comparison, scenario: str, here: Sequence[Variant], drawn: Drawn, axes: tuple[Axis, Axis]
) -> Plot:
    title, note, curve, x_scale, y_scale, name = drawn
    thin: list[Line] = []
    thick: list[Line] = []
    for variant in here:
        dash = DASHES[comparison.contenders.index(variant.contender) // COLOURS % len(DASHES)]
        colour = colour_of(comparison, variant.contender)
        chosen = _in_the_middle(variant)
        for run in variant.runs:
            if run.curves is None:
                continue
            one = curve(run.curves)
            x, y = x_scale * one.x, y_scale * one.y
            if run is chosen:
                thick.append(Line(x, y, variant.contender, colour, dash=dash))
            else:
                repeat, group = f"{variant.contender}, seed {run.manifest.seed}", variant.contender
                thin.append(Line(x, y, repeat, colour, 0.7, dash, opacity=0.35, listed=False, group=group))
    repeats = "; thin: the other repeats" if thin else ""
    return Plot(title, f"{note}{repeats}", [Panel([*thin, *thick], axes[1])], axes[0], slug(f"{name} {scenario}"))


def _in_the_middle(variant: Variant) -> Run | None:
    """The repeat that stands for all: the one with the median utilisation, of two the lower."""
    ordered = sorted(variant.runs, key=lambda run: run.summary.su)
    return ordered[(len(ordered) - 1) // 2] if ordered else None


def slug(text: str) -> str:
    """What a file is called after it."""
    return re.sub(r"[^A-Za-z0-9.=+_]+", "-", text).strip("-")


def colour_of(comparison: Comparison, contender: str) -> str:
    """The same one in all plots."""
    return f"c{comparison.contenders.index(contender) % COLOURS}"
