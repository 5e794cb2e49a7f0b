"""The figures of a run of the fluid model, as `testbed.results.summary` has them of a run with packets.

The definitions are those of `testbed.results.figures`; what differs, since there are no packets: queue and RTT
quantiles are over time, RTTs are what a packet would have had that arrived then, losses and marks are bytes in units of
packets.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from testbed.base.arrays import Floats, Ints
from testbed.engines.fluid.fluid import Fluid
from testbed.engines.fluid.trace import FluidTrace
from testbed.results.figures import fairness, fct, spans
from testbed.results.figures.unknown import Number as Figure

NAN = float("nan")
MOST_NUMBERS = 20_000_000  # that quantiles are taken of


class Figures(BaseModel):
    """What one run of the model showed; names, units and windows as in a summary. null: it cannot be known."""

    model_config = ConfigDict(frozen=True, ser_json_inf_nan="null")

    experiment: str
    controller: str
    tuner: str
    model: str = Field(default="fluid", description="what made the figures: no packet was sent")
    probes: int = Field(description="of a flow on the way at once")
    step: float = Field(description="s")
    flows: int
    hosts: int
    bottleneck_rate: Figure = Field(description="bit/s")
    base_rtt: Figure = Field(description="s, of the median flow")
    window_start: Figure = Field(description="s; the warm-up's end")
    window_end: Figure
    wall_seconds: Figure

    su: Figure = Field(description="%")
    fr_flows: Figure = Field(description="%")
    fr_hosts: Figure = Field(description="%")
    jain_flows: Figure
    jain_hosts: Figure
    fairness_flows: int = Field(description="flows compared: active for at least 90 % of the window")
    ql_mean: Figure = Field(description="s")
    ql_p99: Figure = Field(description="s, over time")
    ql_max: Figure = Field(description="s")
    rtt_p50: Figure = Field(description="s, over time")
    rtt_p99: Figure = Field(description="s, over time")
    goodput: Figure = Field(description="payload acknowledged, all flows, bit/s")
    drops: Figure = Field(description="packets' worth, all queues")
    drops_in_run: Figure
    loss: Figure = Field(description="%, whole run")
    marks: Figure = Field(description="packets' worth, all queues")
    marked: Figure = Field(description="share of what arrived at the bottleneck, %")

    fct_finished: int
    fct_unfinished: int
    fct_mean: Figure = Field(description="s")
    fct_p50: Figure
    fct_p99: Figure
    slowdown_mean: Figure
    slowdown_p50: Figure
    slowdown_p99: Figure
    decisions: int = Field(description="rows that the controller decided about, whole run")


def figures(
    fluid: Fluid, trace: FluidTrace, warmup: float, *, experiment: str, controller: str, tuner: str, wall_seconds: float
) -> Figures:
    """Of the time from the end of the warm-up on, unless the name says otherwise."""
    layout = fluid.layout
    span = spans.Window(warmup, float(trace.time[-1]))
    queue = int(np.bincount(layout.queue).argmax())  # the busiest one
    wire, line = layout.wire_size, layout.line_rate
    thin = 1 + trace.every_queue.size // MOST_NUMBERS
    window = trace.every_queue[round(warmup / trace.step) :: thin].astype(float)
    waits = window[:, queue] * 8.0 / line
    rtts = _rtts(window, trace.growth("left", warmup), layout.base_rtt, layout.queue, line)
    active = np.minimum(np.nan_to_num(fluid.finished, nan=span.end), span.end) - np.maximum(layout.start, span.start)
    steady = active >= fairness.ENOUGH_OF_WINDOW * span.length
    acked = trace.growth("acked", warmup) * 8
    rates = (acked * span.length / np.maximum(active, 1e-12))[steady]
    per_host = fairness.per_host(rates, [str(host) for host in layout.host[steady]])
    arrived = float(trace.growth("arrived", warmup)[queue])
    return Figures(
        experiment=experiment,
        controller=controller,
        tuner=tuner,
        probes=fluid.options.probes,
        step=trace.step,
        flows=len(layout.host),
        hosts=len(np.unique(layout.host)),
        bottleneck_rate=line,
        base_rtt=float(np.median(layout.base_rtt)),
        window_start=span.start,
        window_end=span.end,
        wall_seconds=wall_seconds,
        su=100 * 8 * float(trace.growth("left", warmup)[queue]) / line,
        fr_flows=fairness.fairness_ratio(rates),
        fr_hosts=fairness.fairness_ratio(per_host),
        jain_flows=fairness.jain(rates),
        jain_hosts=fairness.jain(per_host),
        fairness_flows=int(steady.sum()),
        ql_mean=float(trace.growth("area", warmup)[queue]) * 8 / line,
        ql_p99=float(np.quantile(waits, 0.99)),
        ql_max=float(waits.max()),
        rtt_p50=rtts[0],
        rtt_p99=rtts[1],
        goodput=float(acked.sum()) * layout.payload / wire,
        drops=float(trace.growth("dropped", warmup).sum()) * span.length / wire,
        drops_in_run=float(trace.dropped[-1].sum()) / wire,
        loss=100 * float(trace.dropped[-1].sum()) / max(float(trace.sent[-1].sum()), 1.0),
        marks=float(trace.growth("marked", warmup).sum()) * span.length / wire,
        marked=100 * float(trace.growth("marked", warmup)[queue]) / arrived if arrived > 0 else NAN,
        **_completion(fluid),
        decisions=fluid.decisions,
    )


def _rtts(window: Floats, left: Floats, base_rtt: Floats, queue_of: Ints, line: float) -> tuple[float, float]:
    """p50 and p99 over time, each queue with the weight of what it passed on."""
    queues = np.flatnonzero(left > 0)
    if not len(queues):
        return NAN, NAN
    base = np.array([np.median(base_rtt[queue_of == queue]) for queue in queues])
    rtts = (base + window[:, queues] * 8.0 / line).ravel()
    order = rtts.argsort()
    weight = np.broadcast_to(left[queues], (len(window), len(queues))).ravel()[order].cumsum()
    places = np.searchsorted(weight, np.array([0.5, 0.99]) * weight[-1])
    p50, p99 = rtts[order][np.minimum(places, len(rtts) - 1)]
    return float(p50), float(p99)


def _completion(fluid: Fluid) -> dict[str, Any]:
    layout = fluid.layout
    ideal = layout.base_rtt + 8 * layout.size / layout.line_rate
    found = asdict(fct.completion_of(layout.size, layout.start, fluid.finished, ideal))
    return {name if name.startswith("slowdown") else f"fct_{name}": value for name, value in found.items()}
