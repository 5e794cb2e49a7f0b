"""A run of the fluid model as a picture: the fullest queue, and the flows' rates."""

from __future__ import annotations

from typing import Any

import numpy as np

from testbed.engines.fluid.run import Modelled
from testbed.results.report.plot import MOST_POINTS, Plot, Trace, evenly, growth_rate, line, ms, over_time

MOST_COLOURS = 8
MOST_CURVES = 64


def plot(ran: Modelled) -> Plot:
    """Queue above, rates below, over time."""
    trace, shown = ran.trace, ran.figures
    kept = evenly(len(trace.time), MOST_POINTS)
    queue = int(np.bincount(ran.layout.queue).argmax())
    middle, mean = growth_rate(trace.time[kept], trace.area[kept, queue : queue + 1])
    as_us = 8e6 / shown.bottleneck_rate
    data = [line(ms(middle), mean[:, 0] * as_us, "queue", "@accent")]
    _, rates = growth_rate(trace.time[kept], trace.sent[kept])
    flows = rates.shape[1]
    if flows <= MOST_CURVES:
        colours = [f"@c{i}" if flows <= MOST_COLOURS else "@accent" for i in range(flows)]
        curves = [
            line(ms(middle), rates[:, i] * 8e-9, f"flow {i + 1}", colour, width=1) for i, colour in enumerate(colours)
        ]
    else:
        levels = np.quantile(rates, [0.0, 0.5, 1.0], axis=1) * 8e-9
        names = (("slowest", "@faint"), ("median", "@accent"), ("fastest", "@faint"))
        curves = [line(ms(middle), level, *name, width=1) for level, name in zip(levels, names, strict=True)]
    data += [_below(curve) for curve in curves]
    layout: dict[str, Any] = over_time(shown.window_end, shown.window_start)
    layout["yaxis"] = {"rangemode": "tozero", "domain": [0.55, 1], "title": {"text": "queue, us"}}
    layout["yaxis2"] = {"rangemode": "tozero", "domain": [0, 0.45], "title": {"text": "rate, Gbit/s"}}
    layout["showlegend"] = False
    note = f"fluid model, no packets: {shown.probes} probes per flow, steps of {shown.step * 1e6:.3g} us"
    return Plot(f"{shown.experiment}, {shown.controller}", note, data, layout, "model")


def _below(curve: Trace) -> Trace:
    return curve | {"yaxis": "y2"}
