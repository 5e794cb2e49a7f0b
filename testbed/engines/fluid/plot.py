"""A run of the fluid model as a picture: the fullest queue, and the flows' rates."""

from __future__ import annotations

import numpy as np

from testbed.engines.fluid.run import Modelled
from testbed.results.report.plot import MOST_POINTS, Axis, Line, Panel, Plot, evenly, growth_rate, ms, over_time

MOST_COLOURS = 8
MOST_CURVES = 64


def plot(ran: Modelled) -> Plot:
    """Queue above, rates below, over time."""
    trace, shown = ran.trace, ran.figures
    kept = evenly(len(trace.time), MOST_POINTS)
    queue = int(np.bincount(ran.layout.queue).argmax())
    middle, mean = growth_rate(trace.time[kept], trace.area[kept, queue : queue + 1])
    as_us = 8e6 / shown.bottleneck_rate
    above = [Line(ms(middle), mean[:, 0] * as_us, "queue", "accent", listed=False)]
    _, rates = growth_rate(trace.time[kept], trace.sent[kept])
    flows = rates.shape[1]
    if flows <= MOST_CURVES:
        drawn = [(f"flow {i + 1}", f"c{i}" if flows <= MOST_COLOURS else "accent") for i in range(flows)]
        values = rates.T
    else:
        drawn = [("slowest", "faint"), ("median", "accent"), ("fastest", "faint")]
        values = np.quantile(rates, [0.0, 0.5, 1.0], axis=1)
    curves = [
        Line(ms(middle), curve * 8e-9, *named, width=1, listed=False)
        for curve, named in zip(values, drawn, strict=True)
    ]
    panels = [Panel(above, Axis("queue, us")), Panel(curves, Axis("rate, Gbit/s"))]
    note = f"fluid model, no packets: {shown.probes} probes per flow, steps of {shown.step * 1e6:.3g} us"
    x = over_time(shown.window_end, shown.window_start)
    return Plot(f"{shown.experiment}, {shown.controller}", note, panels, x, "model")
