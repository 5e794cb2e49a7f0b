"""The plots of a run as plotly figures in plain JSON: what is drawn, not how it looks.

Colours are the names of CSS variables (``@accent``); the page resolves them, so that a plot follows its theme. Only
plotly.js ever sees these: plotly's Python side would cost half a second and add nothing.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from testbed.controller import Floats, Ints
from testbed.report import metrics
from testbed.report.series import flow_names
from testbed.telemetry.record import FlowTable, RunRecord
from testbed.units import show_rate, show_size, show_time

MOST_POINTS = 2000  # of one curve; a screen has no more
MOST_POINTS_IN_ALL = 60_000  # of all curves of a plot: beyond it SVG gets slow
MOST_CURVES = 64
MOST_COLOURS = 8
PACKETS_PER_POINT = 50  # of a mean flow's throughput: fewer would draw the packets and not the rate

Trace = dict[str, Any]


@dataclass(frozen=True)
class Plot:
    """One figure: its heading, what the reader should know about it, and plotly's data and layout."""

    title: str
    note: str
    data: list[Trace]
    layout: dict[str, Any] = field(default_factory=dict)


def plots(record: RunRecord) -> list[Plot]:
    """All plots of a run, in the order of the report."""
    return [_throughput(record), _queue(record), _rtt(record), _marks(record), _drops(record), _rates(record)]


def _throughput(record: RunRecord) -> Plot:
    series, flows = record.flow_series, record.flows
    groups = _groups(flows)
    packets = float(flows.acked_packets.sum()) / max(groups.curves, 1)
    most = int(np.clip(packets / PACKETS_PER_POINT, 50, _points(groups.curves)))
    kept = _evenly(len(series.time), most + 1)
    time, rates = _growth_rate(series.time[kept], groups.sum(series.acked_bytes[kept]))
    return Plot(
        "Throughput", f"goodput {groups.note}, Gbit/s", _curves(time, 8 * rates / 1e9, groups), _over_time(record)
    )


def _rates(record: RunRecord) -> Plot:
    series, groups = record.flow_series, _groups(record.flows)
    kept = _evenly(len(series.time), _points(groups.curves))
    what, unit, values = "Rate", "Gbit/s", series.rate[kept] / 1e9
    if not np.isfinite(values).any():  # a controller may work by window alone
        what, unit, values = "Window", "kB", series.window[kept] / 1e3
    values = np.where(np.isfinite(values), values, np.nan)  # infinity has no place on an axis
    data = _curves(series.time[kept], groups.sum(values), groups)
    return Plot(f"{what} set by the controller", f"{groups.note}, {unit}", data, _over_time(record))


def _queue(record: RunRecord) -> Plot:
    ports, port = record.port_series, record.bottleneck
    kept = _evenly(len(ports.time), MOST_POINTS)
    at = _ms(ports.time[kept])
    highest = np.maximum.reduceat(ports.queue[:, port], kept) if len(kept) else np.empty(0)
    middle, mean = _growth_rate(ports.time[kept], ports.queue_area[kept, port : port + 1])
    data = [
        _line(at, highest / 1e3, "highest sample", "@faint", width=1),
        _line(_ms(middle), mean[:, 0] / 1e3, "mean", "@accent"),
    ]
    for name, column, dash in (("Kmin", ports.kmin, "dot"), ("Kmax", ports.kmax, "dash")):
        threshold = column[kept, port] / 1e3
        if np.isfinite(threshold).all() and threshold.any():
            data.append(_line(at, threshold, name, "@limit", width=1, dash=dash, step=True))
    rate = float(record.port_rate[port])
    scale = f"100 kB are {show_time(float(f'{8e5 / rate:.3g}'))} at {show_rate(rate)}"
    buffer = f"the buffer holds {show_size(float(record.port_buffer[port]))}"
    layout = _over_time(record) | {"showlegend": True}
    return Plot(f"Queue at {record.ports[port]}", f"kB; {scale}; {buffer}", data, layout)


def _rtt(record: RunRecord) -> Plot:
    histogram = record.rtt_histogram
    total = max(int(histogram.counts.sum()), 1)
    share = np.concatenate(([0.0], np.cumsum(histogram.counts) / total))
    filled = np.flatnonzero(histogram.counts)
    shown = slice(int(filled[0]), int(filled[-1]) + 2) if len(filled) else slice(0, 0)
    base = metrics.base_rtt(record) * 1e6
    layout: dict[str, Any] = {"xaxis": {"title": {"text": "us"}}, "yaxis": {"range": [0, 1.02]}}
    if np.isfinite(base):
        line = {"color": "@limit", "width": 1, "dash": "dot"}
        layout["shapes"] = [{"type": "line", "x0": base, "x1": base, "y0": 0, "y1": 1, "yref": "paper", "line": line}]
        layout["annotations"] = [
            {"x": base, "y": 0.02, "yref": "paper", "text": "base RTT", "showarrow": False, "xanchor": "left"}
        ]
    data = [_line(1e6 * histogram.edges[shown], share[shown], "share of RTTs", "@accent")]
    return Plot("RTT", "share of acknowledgements with at most this RTT", data, layout)


def _marks(record: RunRecord) -> Plot:
    return _share_of_packets(record, record.port_series.marked_packets, "Marks", "marked CE", arriving=False)


def _drops(record: RunRecord) -> Plot:
    return _share_of_packets(record, record.port_series.dropped_packets, "Drops", "dropped by the model", arriving=True)


def _share_of_packets(record: RunRecord, counter: Floats, title: str, what: str, *, arriving: bool) -> Plot:
    ports, port = record.port_series, slice(record.bottleneck, record.bottleneck + 1)
    kept = _evenly(len(ports.time), MOST_POINTS)
    time, events = _growth_rate(ports.time[kept], counter[kept, port])
    _, passed = _growth_rate(ports.time[kept], ports.tx_packets[kept, port])
    whole = passed + events if arriving else passed
    share = np.divide(100 * events, whole, out=np.zeros_like(events), where=whole > 0)
    group = "arriving" if arriving else "passing"
    data = [_line(_ms(time), share[:, 0], what, "@accent")]
    layout = _over_time(record)
    layout["yaxis"] = {"rangemode": "tozero"} if share.any() else {"range": [0, 1]}
    return Plot(title, f"% of the packets {group} {record.ports[record.bottleneck]} that were {what}", data, layout)


# Many flows


@dataclass(frozen=True)
class _Groups:
    """The curves to draw for columns per flow; with no names, the columns are drawn as bands."""

    names: list[str]
    note: str
    columns: list[list[int]]  # of the flows that a curve sums up; empty: each flow for itself
    curves: int

    def sum(self, values: Floats) -> Floats:
        """Columns per flow to columns per curve."""
        if not self.columns:
            return values
        return np.column_stack([np.nansum(values[:, columns], axis=1) for columns in self.columns])


def _groups(flows: FlowTable) -> _Groups:
    if len(flows) <= MOST_CURVES:
        return _Groups(flow_names(flows), "per flow", [], len(flows))
    by_host: dict[str, list[int]] = {}
    for column, host in enumerate(flows.src):
        by_host.setdefault(host, []).append(column)
    if len(by_host) <= MOST_CURVES:
        return _Groups(list(by_host), "per sending host", list(by_host.values()), len(by_host))
    return _Groups([], "of the flows: median, middle half, all", [], len(flows))


def _curves(time: Floats, values: Floats, groups: _Groups) -> list[Trace]:
    names = groups.names
    if not names:
        return _bands(time, values) if groups.curves else []
    if len(names) <= MOST_COLOURS:
        return [_line(_ms(time), values[:, i], name, f"@c{i}") for i, name in enumerate(names)]
    # Many curves of one colour show the spread, which is the point; the name comes with the pointer.
    return [_line(_ms(time), values[:, i], name, "@accent", width=1, opacity=0.35) for i, name in enumerate(names)]


def _bands(time: Floats, values: Floats) -> list[Trace]:
    levels = np.nanquantile(np.nan_to_num(values), [0, 1, 0.25, 0.75, 0.5], axis=1)
    at, lines = _ms(time), []
    for low, high, name, colour in ((0, 1, "all", "@band1"), (2, 3, "middle half", "@band2")):
        lines.append(_line(at, levels[low], f"{name}, lower end", colour, width=0))
        filled = {"fill": "tonexty", "fillcolor": colour}
        lines.append(_line(at, levels[high], f"{name}, upper end", colour, width=0) | filled)
    return [*lines, _line(at, levels[4], "median", "@accent")]


# Thinning out


def _points(curves: int) -> int:
    return int(np.clip(MOST_POINTS_IN_ALL // max(curves, 1), 200, MOST_POINTS))


def _evenly(samples: int, most: int) -> Ints:
    """At most ``most`` indices, first and last among them."""
    return np.unique(np.linspace(0, max(samples - 1, 0), min(samples, most)).round().astype(np.int64))


def _growth_rate(time: Floats, counter: Floats) -> tuple[Floats, Floats]:
    """Mean growth of cumulative columns between samples, placed in the middle: thinned-out samples lose nothing."""
    steps = np.diff(time)
    return (time[1:] + time[:-1]) / 2, np.diff(counter, axis=0) / np.where(steps > 0, steps, np.nan)[:, None]


# Plotly's vocabulary


def _line(
    x: Floats, y: Floats, name: str, colour: str, *, width: float = 1.5, dash: str = "solid", step: bool = False,
    opacity: float = 1.0,
) -> Trace:  # fmt: skip
    return {
        "type": "scatter",
        "mode": "lines",
        "name": name,
        "x": _packed(x),
        "y": _packed(y),
        "opacity": opacity,
        "line": {"color": colour, "width": width, "dash": dash, "shape": "hv" if step else "linear"},
        "hovertemplate": "%{y:.4g} at %{x:.4g}",
    }


def _packed(values: NDArray[Any]) -> dict[str, str]:
    """Plotly's binary form: four bytes a number and nothing to parse; nan is a gap."""
    return {"dtype": "f4", "bdata": base64.b64encode(np.ascontiguousarray(values, "<f4").tobytes()).decode()}


def _ms(seconds: Floats) -> Floats:
    return np.asarray(1e3 * seconds)


def _over_time(record: RunRecord) -> dict[str, Any]:
    """A time axis in milliseconds, with the warm-up shaded."""
    shade = {
        "type": "rect", "x0": 0, "x1": 1e3 * min(record.warmup, record.duration), "y0": 0, "y1": 1, "yref": "paper",
        "layer": "below", "fillcolor": "@shade", "line": {"width": 0},
    }  # fmt: skip
    return {
        "xaxis": {"title": {"text": "ms, nominal"}, "range": [0, 1e3 * record.duration]},
        "yaxis": {"rangemode": "tozero"},
        "shapes": [shade] if record.warmup > 0 else [],
    }
