"""The plots of a scenario: goodput against queue, and the curves of its contenders on top of each other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from testbed.results.compare.comparison import Comparison
from testbed.results.compare.curves import Curve, Curves
from testbed.results.compare.looks import colour_of, dash_of, slug, symbol_of
from testbed.results.compare.runs import Run
from testbed.results.compare.variants import Variant
from testbed.results.report.moments import links
from testbed.results.report.plot import Axis, Dash, Line, Panel, Plot, over_time
from testbed.results.report.sizes import by_size, over_size
from testbed.results.summary import COMPARED

MOST_SCENARIOS = 12  # whose curves are drawn: a page with more gets slow
LOG_FROM = 50  # largest / smallest queue of a trade-off

Drawn = tuple[str, str, Callable[[Curves], Curve], float, float, str]  # title, note, curve, scales of x and y, name
OVER_TIME: tuple[Drawn, ...] = (
    ("Queue latency", "us at the bottleneck, means over time", lambda drawn: drawn.queue, 1e3, 1e6, "queue"),
    ("Goodput", "Gbit/s, all flows", lambda drawn: drawn.goodput, 1e3, 1e-9, "goodput"),
    ("Fairness", "Jain's index of the flows", lambda drawn: drawn.jain, 1e3, 1, "fairness"),
)
RTT: Drawn = ("RTT", "share of acknowledgements with at most this RTT", lambda drawn: drawn.rtt, 1e6, 1, "rtt")
QUANTILES: dict[str, Dash] = {"p50": "dash", "p99": "solid"}


def overlays(comparison: Comparison) -> dict[str, list[Plot]]:
    """Scenario to its plots; only the first `MOST_SCENARIOS`."""
    kept = list(comparison.scenarios.items())[:MOST_SCENARIOS]
    return {scenario: _overlaid(comparison, scenario, here) for scenario, here in kept}


def _overlaid(comparison: Comparison, scenario: str, here: Sequence[Variant]) -> list[Plot]:
    runs = [run for one in here for run in one.runs]
    duration = max((run.summary.duration for run in runs), default=0.0)
    warmup = min((run.summary.window_start for run in runs), default=0.0)
    x, share = over_time(duration, warmup), Axis(low=0, high=1.04)
    x = replace(x, marks=links(runs[0].manifest.events) if runs else {})  # the same in all runs of a scenario
    plots = _trade_off(comparison, scenario, here)
    for drawn in OVER_TIME:
        plots.append(_overlay(comparison, scenario, here, drawn, (x, share if drawn[0] == "Fairness" else Axis())))
    plots.append(_overlay(comparison, scenario, here, RTT, (Axis("us"), Axis(low=0, high=1.02))))
    return [*plots, *_slowdown(comparison, scenario, here)]


def _trade_off(comparison: Comparison, scenario: str, here: Sequence[Variant]) -> list[Plot]:
    """Goodput over the queue that it costs, a point per contender; none for a single one."""
    across, up = COMPARED["ql_p99"], COMPARED["goodput"]
    crosses: list[Line] = []
    points: list[Line] = []
    for one in here:
        queue, goodput = one.estimate("ql_p99"), one.estimate("goodput")
        if not comparison.comparable(one, "ql_p99") or not np.isfinite([queue.median, goodput.median]).all():
            continue
        colour, x, y = colour_of(comparison, one.contender), queue.median * across.scale, goodput.median * up.scale
        for xs, ys in (
            ((queue.low, queue.high), (goodput.median,) * 2),
            ((queue.median,) * 2, (goodput.low, goodput.high)),
        ):
            ends = np.array(xs) * across.scale, np.array(ys) * up.scale
            crosses.append(Line(*ends, one.contender, colour, width=3, opacity=0.35, listed=False))
        symbol = symbol_of(comparison, one.contender)
        points.append(
            Line(
                np.array([x]), np.array([y]), one.contender, colour, width=0, symbol=symbol, size=9, label=one.contender
            )
        )
    if len(points) < 2:
        return []
    queues = np.array([point.x[0] for point in points])
    log = bool(queues.min() > 0 and queues.max() >= LOG_FROM * queues.min())
    note = "goodput, Gbit/s, over the queue's p99; the best are at the upper left; medians with their intervals"
    x_axis = Axis(f"{across.label}, {across.readers_unit}", None if log else 0.0, log=log)
    panel = Panel([*crosses, *points], Axis(from_zero=False))
    return [Plot("Goodput against queue", note, [panel], x_axis, slug(f"trade-off {scenario}"))]


def _slowdown(comparison: Comparison, scenario: str, here: Sequence[Variant]) -> list[Plot]:
    """Over the flows' sizes; none where too few finite flows finished."""
    lines = []
    for one in here:
        chosen = _in_the_middle(one)
        bins = chosen.summary.slowdown_by_share if chosen else []
        colour, symbol = colour_of(comparison, one.contender), symbol_of(comparison, one.contender)
        for name, dash in QUANTILES.items() if bins else ():
            label = f"{one.contender}, {name}"
            lines.append(Line(*over_size(bins, name), label, colour, dash=dash, symbol=symbol, size=5))
    note = "FCT / ideal FCT in bins with equally many flows; dashed: p50, solid: p99"
    return [by_size("Slowdown by flow size", note, lines, slug(f"slowdown {scenario}"))] if lines else []


def _overlay(
    comparison: Comparison, scenario: str, here: Sequence[Variant], drawn: Drawn, axes: tuple[Axis, Axis]
) -> Plot:
    title, note, curve, x_scale, y_scale, name = drawn
    thin: list[Line] = []
    thick: list[Line] = []
    for variant in here:
        dash, colour = dash_of(comparison, variant.contender), colour_of(comparison, variant.contender)
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
