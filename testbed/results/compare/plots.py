"""The plots of a comparison: the figures with their intervals, and the curves of each scenario on top of each other."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from testbed.results.compare.comparison import Comparison
from testbed.results.compare.curves import Curve, Curves
from testbed.results.compare.runs import Run
from testbed.results.compare.variants import Variant
from testbed.results.figures.registry import Figure
from testbed.results.report.plot import Plot, Trace, line, marks, over_time
from testbed.results.summary import COMPARED

DRAWN = ("su", "fr_flows", "jain_flows", "ql_mean", "ql_p99", "rtt_p99", "goodput", "loss", "slowdown_p99")
COLOURS = 8
DASHES = ("solid", "dash", "dot", "dashdot")
SPREAD = 0.6  # of the step from one scenario to the next, taken by its contenders side by side
MOST_SCENARIOS = 12  # whose curves are drawn: a page with more gets slow
MOST_IN_LEGEND = 8

Drawn = tuple[str, str, Callable[[Curves], Curve], float, float, str]  # title, note, curve, scales of x and y, name
OVER_TIME: tuple[Drawn, ...] = (
    ("Queue latency", "us at the bottleneck, means over time", lambda drawn: drawn.queue, 1e3, 1e6, "queue"),
    ("Goodput", "Gbit/s, all flows", lambda drawn: drawn.goodput, 1e3, 1e-9, "goodput"),
    ("Fairness", "Jain's index of the flows", lambda drawn: drawn.jain, 1e3, 1, "fairness"),
)
RTT: Drawn = ("RTT", "share of acknowledgements with at most this RTT", lambda drawn: drawn.rtt, 1e6, 1, "rtt")


def figures(comparison: Comparison) -> list[Plot]:
    """One plot per metric: medians as dots, intervals as bars."""
    known = {metric.name for metric in comparison.metrics}
    return [_medians(comparison, COMPARED[name]) for name in DRAWN if name in known]


def overlays(comparison: Comparison) -> dict[str, list[Plot]]:
    """Scenario to its plots; only the first `MOST_SCENARIOS`."""
    kept = list(comparison.scenarios.items())[:MOST_SCENARIOS]
    return {scenario: _overlaid(comparison, scenario, here) for scenario, here in kept}


def _medians(comparison: Comparison, metric: Figure) -> Plot:
    scenarios, contenders = list(comparison.scenarios), _contenders(comparison)
    single = len(scenarios) == 1
    offsets = np.linspace(-SPREAD / 2, SPREAD / 2, len(contenders) + 2)[1:-1]
    intervals, medians = [], []
    for number, contender in enumerate(contenders):
        own = [one for one in comparison.variants if one.contender == contender]
        at = np.array([number if single else scenarios.index(one.scenario) + offsets[number] for one in own], float)
        found = [one.estimate(metric.name) for one in own]
        ends = np.array([[one.low, one.high, np.nan] for one in found]).ravel() * metric.scale
        colour = f"@c{number % COLOURS}"
        bars = line(np.repeat(at, 3), ends, contender, colour, width=2.5, opacity=0.5)
        intervals.append(_unlisted(bars, contender))
        values = np.array([one.median for one in found]) * metric.scale
        dots = marks(at, values, contender, colour) | {
            "legendgroup": contender,
            "line": {"color": colour, "width": 0.7},
        }
        medians.append(dots | {"mode": "markers" if single else "lines+markers"})
    ticks = contenders if single else scenarios
    layout: dict[str, Any] = {
        "xaxis": {"tickvals": list(range(len(ticks))), "ticktext": ticks, "range": [-0.6, len(ticks) - 0.4]},
        "showlegend": not single and len(contenders) <= MOST_IN_LEGEND,
    }
    note = f"{metric.readers_unit or 'index'}, {metric.better} is better; dots: medians, bars: intervals"
    return Plot(metric.label, note, [*intervals, *medians], layout, f"median-{metric.name.replace('_', '-')}")


def _overlaid(comparison: Comparison, scenario: str, here: Sequence[Variant]) -> list[Plot]:
    runs = [run for one in here for run in one.runs]
    duration = max((run.summary.duration for run in runs), default=0.0)
    warmup = min((run.summary.window_start for run in runs), default=0.0)
    layout = over_time(duration, warmup)
    plots = []
    for drawn in OVER_TIME:
        own = layout | ({"yaxis": {"range": [0, 1.04]}} if drawn[0] == "Fairness" else {})
        plots.append(_overlay(comparison, scenario, here, drawn, own))
    cdf = {"xaxis": {"title": {"text": "us"}}, "yaxis": {"range": [0, 1.02]}}
    return [*plots, _overlay(comparison, scenario, here, RTT, cdf)]


def _overlay(
    comparison: Comparison, scenario: str, here: Sequence[Variant], drawn: Drawn, layout: dict[str, Any]
) -> Plot:
    title, note, curve, x_scale, y_scale, name = drawn
    contenders = _contenders(comparison)
    thin: list[Trace] = []
    thick: list[Trace] = []
    for variant in here:
        number = contenders.index(variant.contender)
        colour, dash = f"@c{number % COLOURS}", DASHES[number // COLOURS % len(DASHES)]
        chosen = _in_the_middle(variant)
        for run in variant.runs:
            if run.curves is None:
                continue
            one = curve(run.curves)
            x, y = x_scale * one.x, y_scale * one.y
            if run is chosen:
                trace = line(x, y, variant.contender, colour, dash=dash)
                thick.append(trace | {"legendgroup": variant.contender})
            else:
                repeat = f"{variant.contender}, seed {run.manifest.seed}"
                trace = line(x, y, repeat, colour, width=0.7, dash=dash, opacity=0.35)
                thin.append(_unlisted(trace, variant.contender))
    repeats = "; thin: the other repeats" if thin else ""
    slug = re.sub(r"[^A-Za-z0-9.=+_]+", "-", f"{name} {scenario}").strip("-")
    own = layout | {"showlegend": 1 < len(thick) <= MOST_IN_LEGEND}
    return Plot(title, f"{note}{repeats}", [*thin, *thick], own, slug)


def _in_the_middle(variant: Variant) -> Run | None:
    """The repeat that stands for all: the one with the median utilisation, of two the lower."""
    ordered = sorted(variant.runs, key=lambda run: run.summary.su)
    return ordered[(len(ordered) - 1) // 2] if ordered else None


def _contenders(comparison: Comparison) -> list[str]:
    return list(dict.fromkeys(variant.contender for variant in comparison.variants))


def _unlisted(trace: Trace, group: str) -> Trace:
    """Not in the legend, but gone from the plot with the group's entry."""
    return trace | {"showlegend": False, "legendgroup": group}
