"""The figures of the papers as pure functions, each with its definition, where it is from and its trap.

Everything is SI and nominal: seconds, bytes, bit/s; SU and FR are percentages as the papers print them. A figure that
cannot be known (an empty window, no flow to compare) is nan, never a plausible number. Sources: "sheet 8" is the
metrics table of the facts sheet on controllers, ADPG and DECC are the papers.

One *window* is used throughout: from the end of the warm-up to the end of the run, as far as there are samples.
Counters are cumulative and are interpolated at its two ends, so it need not fall on sample times.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from testbed.controller import Floats
from testbed.report.measured import Measured
from testbed.telemetry.record import RunRecord

NAN = float("nan")
ENOUGH_OF_WINDOW = 0.9  # see `steady_flows`


class Window(NamedTuple):
    """A span of nominal time, in seconds since the start of the run."""

    start: float
    end: float

    @property
    def length(self) -> float:
        """Seconds; 0 for a run that ended before its warm-up did."""
        return max(self.end - self.start, 0.0)


def window(record: Measured) -> Window:
    """From the end of the warm-up to the end of the run, inside the sampled time.

    RLCC leaves out the first 50 of 200 ms (sheet 8). Trap: a counter has no value outside its samples; taking the
    run's duration instead would count the unsampled tail as idle.
    """
    times = [series.time for series in (record.flow_series, record.port_series) if len(series.time)]
    first = max((float(time[0]) for time in times), default=0.0)
    last = min((float(time[-1]) for time in times), default=0.0)
    return Window(max(record.warmup, first), min(record.duration, last))


def growth(time: Floats, counter: Floats, span: Window) -> Floats:
    """How much each column of a cumulative counter, shape (t, n), grew in the window; shape (n,)."""
    if span.length <= 0 or len(time) == 0:
        return np.full(counter.shape[1], np.nan)
    return _at(time, counter, span.end) - _at(time, counter, span.start)


def _at(time: Floats, counter: Floats, moment: float) -> Floats:
    right = int(np.clip(np.searchsorted(time, moment), 1, max(len(time) - 1, 1)))
    if right >= len(time):
        return np.asarray(counter[0])
    left = right - 1
    step = time[right] - time[left]
    share = np.clip((moment - time[left]) / step, 0.0, 1.0) if step > 0 else 1.0
    return np.asarray(counter[left] + share * (counter[right] - counter[left]))


# Utilisation, goodput, queue


def utilisation(record: RunRecord, span: Window) -> float:
    """SU, switch utilisation, %: bytes through the bottleneck / (B x time) (ADPG; sheet 8).

    Trap: wire bytes, counted at the switch port, not payload at the receivers.
    """
    port = record.bottleneck
    sent = growth(record.port_series.time, record.port_series.tx_bytes, span)[port]
    return _ratio(100 * 8 * float(sent), float(record.port_rate[port]) * span.length)


def flow_goodput(record: RunRecord, span: Window) -> Floats:
    """Unique payload per time (sheet 8) of each flow over the whole window, bit/s.

    Trap: payload, not wire bytes; and it is what was acknowledged, so what is in flight at the end does not count.
    """
    acked = growth(record.flow_series.time, record.flow_series.acked_bytes, span)
    if len(acked) < len(record.flows):  # record.flows: only some have series
        acked = record.acked_in_window if span.length > 0 else np.full(len(record.flows), np.nan)
    return np.asarray(8 * acked / span.length) if span.length > 0 else acked


def queue_latency_mean(record: RunRecord, span: Window) -> float:
    """QL, queue latency, s: mean queue / B (ADPG; sheet 8).

    The mean over time, from the integral of the queue. Trap: the mean of samples, or over arriving packets, weighs
    the busy moments more.
    """
    area = growth(record.port_series.time, record.port_series.queue_area, span)[record.bottleneck]
    return _ratio(8 * float(area), span.length * float(record.port_rate[record.bottleneck]))


def queue_latency_quantile(record: RunRecord, span: Window, q: float) -> float:
    """The waiting time at the bottleneck that a share ``q`` of the arriving packets did not exceed, s.

    Exact to one bin; the longest waiting time bounds it, which is known better.
    """
    quantile = _ratio(8 * record.queue_histogram.quantile(q), float(record.port_rate[record.bottleneck]))
    return min(quantile, queue_latency_max(record, span))  # nan if there were no packets


def queue_latency_max(record: RunRecord, span: Window) -> float:
    """The longest waiting time at the bottleneck in the window, s.

    The port's high-water mark holds it exactly if it rose in the window. If it did not, the mark is from the
    warm-up (every flow starts at line rate there), and the highest bin that a packet of the window fell into bounds
    it: exact to one bin, never too low.
    """
    if span.length <= 0:
        return NAN
    peaks = record.port_series.peak_queue[:, record.bottleneck : record.bottleneck + 1]
    before = float(_at(record.port_series.time, peaks, span.start)[0])
    ever = float(peaks[-1, 0])
    filled = np.flatnonzero(record.queue_histogram.counts)
    if ever <= before and len(filled):
        ever = min(ever, float(record.queue_histogram.edges[filled[-1] + 1]))
    return _ratio(8 * ever, float(record.port_rate[record.bottleneck]))


# Fairness


def steady_flows(record: RunRecord, span: Window) -> NDArray[np.bool_]:
    """The flows that fairness is about: active for at least 90 % of the window.

    A flow that started late or was done early moved fewer bytes without being treated unfairly; it is left out, and
    the summary says how many were. The tenth of slack lets in flows whose starts are spread over a few RTTs when
    there is no warm-up.
    """
    return np.asarray((_active(record, span) >= ENOUGH_OF_WINDOW * span.length) & (span.length > 0))


def steady_rates(record: RunRecord, span: Window) -> Floats:
    """Goodput of every flow over the part of the window in which it was active, bit/s; what fairness compares."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return flow_goodput(record, span) * span.length / _active(record, span)


def _active(record: RunRecord, span: Window) -> Floats:
    flows = record.flows
    until = np.where(np.isnan(flows.finished), span.end, np.minimum(flows.finished, span.end))
    return np.asarray(np.maximum(until - np.maximum(flows.start, span.start), 0.0))


def per_host(rates: Floats, hosts: Sequence[str]) -> Floats:
    """Sum of the rates of each sending host's flows, in order of first appearance.

    Trap: ADPG's text and code differ in what they compare, flows or hosts (RLCC: hosts), and DECC compares compute
    nodes; with several flows per host the figures differ, so both are reported.
    """
    index = {host: number for number, host in enumerate(dict.fromkeys(hosts))}
    totals = np.zeros(len(index))
    np.add.at(totals, [index[host] for host in hosts], rates)
    return totals


def fairness_ratio(rates: Floats) -> float:
    """FR, %: 100 * min(rate) / max(rate) (ADPG; sheet 8). Trap: ADPG's Table 6 prints it from 0 to 1."""
    return _ratio(100 * float(rates.min()), float(rates.max())) if len(rates) else NAN


def jain(rates: Floats) -> float:
    """Jain's index, (sum x)^2 / (n sum x^2): 1 is fair, 1/n is one flow that has everything (sheet 8)."""
    return _ratio(float(rates.sum()) ** 2, len(rates) * float((rates**2).sum()))


# Losses and marks


@dataclass(frozen=True)
class Packets:
    """Packets at the switch ports. Dropped means by the model: tail drop at the buffer, or loss that was asked for."""

    dropped: float  # in the window, all ports
    dropped_in_run: float  # whole run, all ports: a start at line rate drops in the warm-up
    marked: float  # in the window, all ports
    marked_share: float  # of the packets through the bottleneck, in the window


def packets(record: RunRecord, span: Window) -> Packets:
    """Drops and CE marks. Trap: drops that are *not* the model's are a fault of the run, see the verdict."""
    ports, bottleneck = record.port_series, record.bottleneck
    marked = growth(ports.time, ports.marked_packets, span)
    through = growth(ports.time, ports.tx_packets, span)[bottleneck]
    return Packets(
        dropped=float(growth(ports.time, ports.dropped_packets, span).sum()),
        dropped_in_run=float(ports.dropped_packets[-1].sum()) if len(ports.time) else NAN,
        marked=float(marked.sum()),
        marked_share=_ratio(float(marked[bottleneck]), float(through)),
    )


def loss_share(record: RunRecord) -> float:
    """Packets lost / packets sent, over the whole run (DECC's text).

    Trap: three denominators are in use; DECC's reward divides by the flow's throughput, ADPG's DR is a rate. Lost
    means dropped by a port: what senders declare lost includes packets that were only late.
    """
    sent = float(record.flows.sent_packets.sum())
    return _ratio(packets(record, window(record)).dropped_in_run, sent)


# Pauses


def pause_frames(record: RunRecord) -> float:
    """PFC frames of all switch ports over the whole run: pauses, their renewals and their ends."""
    frames = record.port_series.pause_frames
    return float(frames[-1].sum()) if len(frames) else NAN


def paused_share(record: RunRecord, span: Window) -> float:
    """The mean share of a span for which a sending host was paused. Trap: ports count frames, hosts know the time."""
    ports = record.port_series
    sending = np.isin([_neighbour(port) for port in record.ports], record.flows.src)
    return _ratio(float(growth(ports.time, ports.paused, span)[sending].sum()), span.length * float(sending.sum()))


def _neighbour(port: str) -> str:
    return f"h{port.rpartition('-eth')[2]}"  # of a star


# Finite flows


def ideal_fct(record: RunRecord) -> Floats:
    """Base RTT + (payload + headers) / bottleneck rate, s (sheet 6.8); inf for an endless flow.

    The bottleneck of a flow is the slower of its own NIC and the port that the flows share.
    """
    flows = record.flows
    count = np.ceil(flows.size / record.payload)
    wire = flows.size + count * (record.wire_size - record.payload)
    rate = np.minimum(flows.line_rate, record.port_rate[record.bottleneck])
    return np.asarray(flows.base_rtt + 8 * wire / rate)


@dataclass(frozen=True)
class Completion:
    """Flow completion times of the finite flows of the whole run, s, and their slowdown."""

    finished: int
    unfinished: int  # still running at the end: the slow ones, so a large number makes the times below flattering
    mean: float
    p50: float
    p99: float
    slowdown_mean: float
    slowdown_p50: float
    slowdown_p99: float


def completion(record: RunRecord) -> Completion:
    """FCT from the flow's start to its last acknowledgement, and FCT / ideal FCT (sheet 6.8).

    A slowdown below 1 is clamped to 1, as the field's scripts do: the base RTT already holds the serialisation of one
    packet, so the ideal is that much too long for a flow of a single packet.
    """
    flows = record.flows
    return completion_of(flows.size, flows.start, flows.finished, ideal_fct(record))


def completion_of(size: Floats, start: Floats, finished: Floats, ideal: Floats) -> Completion:
    """`completion` of columns of shape (n,): an endless flow has size inf, one that did not finish has finished nan."""
    finite = np.isfinite(size)
    done = finite & np.isfinite(finished)
    times = (finished - start)[done]
    slowdown = np.maximum(times / ideal[done], 1.0)
    return Completion(
        finished=int(done.sum()),
        unfinished=int(finite.sum() - done.sum()),
        mean=_mean(times),
        p50=_quantile(times, 0.5),
        p99=_quantile(times, 0.99),
        slowdown_mean=_mean(slowdown),
        slowdown_p50=_quantile(slowdown, 0.5),
        slowdown_p99=_quantile(slowdown, 0.99),
    )


# The controller's cost


def decision_per_call(record: RunRecord) -> float:
    """Seconds of *wall* time that one call of the controller took, on average."""
    return _ratio(record.decisions.seconds, record.decisions.calls)


def decision_per_row(record: RunRecord) -> float:
    """Seconds of *wall* time per flow decided about: what papers call the decision time. A call decides for many."""
    return _ratio(record.decisions.seconds, record.decisions.rows)


def base_rtt(record: Measured) -> float:
    """The median flow's base RTT, s: the yardstick of the emulation's own delays."""
    return _quantile(record.flows.base_rtt, 0.5)


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole > 0 else NAN


def _mean(values: Floats) -> float:
    return float(values.mean()) if len(values) else NAN


def _quantile(values: Floats, q: float) -> float:
    return float(np.quantile(values, q)) if len(values) else NAN
