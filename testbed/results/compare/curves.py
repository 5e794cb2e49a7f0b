"""What is drawn of one run, thinned out when its tables are read: they may be large, and many runs are compared."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from testbed.base.arrays import Floats
from testbed.results.folder import Results
from testbed.results.record import Measured
from testbed.results.report.flows import fairness
from testbed.results.report.plot import evenly, growth_rate

MOST_POINTS = 300  # of one curve: several lie on top of each other
FEWEST_POINTS = 20
PACKETS_PER_POINT = 50  # of a mean flow's share: fewer would draw the packets


@dataclass(frozen=True)
class Curve:
    """Time in s, or another x; and what is drawn over it."""

    x: Floats
    y: Floats


@dataclass(frozen=True)
class Curves:
    """Means between samples, so that what is thinned out is not lost. SI units."""

    queue: Curve  # s over s: what a packet waits at the bottleneck
    goodput: Curve  # bit/s over s, all flows
    jain: Curve  # of the flows that were there from a step's start to its end; nan if none was
    rtt: Curve  # share of the acknowledgements over s


def curves(results: Results) -> Curves:
    """The curves of a results folder. Raises BadInput if its files do not fit together."""
    from testbed.results.measured import restore

    record = restore(results)
    ports, series, port = record.port_series, record.flow_series, record.bottleneck
    kept = evenly(len(ports.time), MOST_POINTS + 1)
    waited = 8 * ports.queue_area[kept, port : port + 1] / record.port_rate[port]
    queue_time, queue = growth_rate(ports.time[kept], waited)
    kept = evenly(len(series.time), MOST_POINTS + 1)
    goodput_time, goodput = growth_rate(series.time[kept], series.acked_bytes[kept].sum(axis=1, keepdims=True))
    return Curves(
        queue=Curve(queue_time, queue[:, 0]),
        goodput=Curve(goodput_time, 8 * goodput[:, 0]),
        jain=_fairness(record),
        rtt=Curve(*record.rtt_histogram.distribution()),
    )


def _fairness(record: Measured) -> Curve:
    packets = float(record.flows.acked_packets.sum()) / max(len(record.series_flows), 1)
    steps = int(np.clip(packets / PACKETS_PER_POINT, FEWEST_POINTS, MOST_POINTS))
    return Curve(*fairness(record, evenly(len(record.flow_series.time), steps + 1)))
