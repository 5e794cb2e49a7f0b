"""The plots of a run."""

from __future__ import annotations

import numpy as np

from testbed.base.arrays import Floats, Ints
from testbed.results import figures
from testbed.results.record import Measured, PortSeries
from testbed.results.report.decided import decided
from testbed.results.report.flows import about, active, fairness, flow_curves
from testbed.results.report.plot import (
    MOST_POINTS,
    Axis,
    Dash,
    Line,
    Panel,
    Plot,
    from_start,
    growth_rate,
    ms,
    over_time,
    points_of,
    spread,
)
from testbed.results.report.queues import busiest_queues
from testbed.units import show_rate, show_size, show_time

PACKETS_PER_POINT = 50  # of a mean flow's throughput: fewer would draw the packets and not the rate


def plots(record: Measured) -> list[Plot]:
    """All plots of a run, in the order of the report."""
    drawn = [_throughput, _queue, _rtt, _fairness, _marks, _drops, decided]
    if not len(record.flows):  # there are apps alone, which nobody counts per flow
        return [plot(record) for plot in (_queue, _marks, _drops)]
    if len(record.port_series.time) and np.isnan(record.port_series.queue).all():  # a lab: only its switches know
        drawn = [plot for plot in drawn if plot not in (_queue, _drops)]
        return [plot(record) for plot in drawn]
    found = [plot(record) for plot in drawn]
    switches = {port.rpartition("-eth")[0] for port in record.ports}
    several = len(switches) > 1 or len(set(record.flows.dst)) > 1  # else one queue is all there is to see
    return [*found[:2], busiest_queues(record), *found[2:]] if several else found


def _throughput(record: Measured) -> Plot:
    series = record.flow_series
    kept = _intervals(record)
    edges, acked = from_start(series.time[kept], series.acked_bytes[kept])
    time, rates = growth_rate(edges, acked)
    data = flow_curves(record, time, 8 * rates / 1e9, active(record, edges[:-1], edges[1:]))
    return Plot("Throughput", f"goodput, Gbit/s; {about(record)}", [Panel(data)], _time_axis(record), "throughput")


def _intervals(record: Measured) -> Ints:
    """Samples between which a mean flow had enough packets acknowledged to speak of a rate."""
    flows = max(len(record.series_flows), 1)
    packets = float(record.flows.acked_packets.sum()) / flows
    most = int(np.clip(packets / PACKETS_PER_POINT, 50, points_of(flows)))
    return spread(record.flow_series.time, most + 1)


def _fairness(record: Measured) -> Plot:
    kept = _intervals(record)
    time, index = fairness(record, kept)
    step = f" of {show_time(float(f'{np.diff(record.flow_series.time[kept]).mean():.2g}'))}" if len(time) else ""
    note = f"Jain's index of the flows' goodput in intervals{step}; 1 is fair, 1/n is one flow of n that has everything"
    panel = Panel([Line(ms(time), index, "Jain", "accent")], Axis(low=0, high=1.04))
    return Plot("Fairness", note, [panel], _time_axis(record), "fairness")


def _queue(record: Measured) -> Plot:
    ports, port = record.port_series, record.bottleneck
    kept = spread(ports.time, MOST_POINTS)
    at = ms(ports.time[kept])
    highest = np.maximum.reduceat(ports.queue[:, port], kept) if len(kept) else np.empty(0)
    middle, mean = growth_rate(*from_start(ports.time[kept], ports.queue_area[kept, port : port + 1]))
    # A sample's time is not exactly that of its integral; a mean above the highest queue is that error.
    mean = np.minimum(mean[:, 0], ports.peak_queue[kept, port][len(kept) - len(mean) :])
    data = [
        Line(at, highest / 1e3, "highest sample", "faint", width=1),
        Line(ms(middle), mean / 1e3, "mean", "accent"),
    ]
    thresholds: tuple[tuple[str, Floats, Dash], ...] = ("Kmin", ports.kmin, "dot"), ("Kmax", ports.kmax, "dash")
    for name, column, dash in thresholds:
        threshold = column[kept, port] / 1e3
        if np.isfinite(threshold).all() and threshold.any():
            data.append(Line(at, threshold, name, "limit", width=1, dash=dash, step=True))
    rate = float(record.port_rate[port])
    scale = f"100 kB are {show_time(float(f'{8e5 / rate:.3g}'))} at {show_rate(rate)}"
    buffer = f"the buffer holds {show_size(float(record.port_buffer[port]))}"
    note = f"kB; {scale}; {buffer}"
    return Plot(f"Queue at {record.ports[port]}", note, [Panel(data)], _time_axis(record), "queue")


def _rtt(record: Measured) -> Plot:
    rtt, share = record.rtt_histogram.distribution()
    base = figures.base_rtt(record) * 1e6
    x = Axis("us", marks={"base RTT": base} if np.isfinite(base) else {})
    panel = Panel([Line(1e6 * rtt, share, "share of RTTs", "accent")], Axis(low=0, high=1.02))
    return Plot("RTT", "share of acknowledgements with at most this RTT", [panel], x, "rtt")


def _marks(record: Measured) -> Plot:
    return _share_of_packets(record, record.port_series.marked_packets, "Marks", "marked CE", arriving=False)


def _drops(record: Measured) -> Plot:
    return _share_of_packets(record, record.port_series.dropped_packets, "Drops", "dropped by the model", arriving=True)


def _share_of_packets(record: Measured, counter: Floats, title: str, what: str, *, arriving: bool) -> Plot:
    ports, port = record.port_series, slice(record.bottleneck, record.bottleneck + 1)
    kept = spread(ports.time, MOST_POINTS)
    time, events = growth_rate(*from_start(ports.time[kept], counter[kept, port]))
    _, accepted = growth_rate(*from_start(ports.time[kept], _accepted(ports, port)[kept]))
    whole = accepted + events if arriving else accepted
    share = np.divide(100 * events, whole, out=np.zeros_like(events), where=whole > 0)
    share = np.minimum(share, 100)  # a sample's queue is not exactly of the moment of its counters
    group = "arriving at" if arriving else "queued at"
    panel = Panel([Line(ms(time), share[:, 0], what, "accent")], Axis(low=0, high=None if share.any() else 1))
    total = float(counter[-1, record.bottleneck]) if len(counter) else 0.0
    note = f"% of the packets {group} {record.ports[record.bottleneck]} that were {what}; {total:,.0f} in the whole run"
    return Plot(title, note, [panel], _time_axis(record), title.lower())


def _accepted(ports: PortSeries, port: slice) -> Floats:
    """Packets that were sent or are queued: marks are of arriving packets, of which few leave while a queue grows."""
    sent, wire = ports.tx_packets[:, port], ports.tx_bytes[:, port]
    size = np.divide(wire[-1:], sent[-1:], out=np.full_like(wire[-1:], np.inf), where=sent[-1:] > 0)
    return np.asarray(sent + np.nan_to_num(ports.queue[:, port]) / size)


def _time_axis(record: Measured) -> Axis:
    return over_time(record.duration, record.warmup)
