"""Queues in bytes and seconds, and how long packets took."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from testbed.base.arrays import Floats
from testbed.results.figures.spans import Window, at, growth, inside
from testbed.results.figures.throughput import receiver_ports
from testbed.results.figures.unknown import NAN, mean, quantile, ratio
from testbed.results.record import Measured, RunRecord


def port_queue_latency(record: RunRecord, span: Window) -> Floats:
    """QL, queue latency, s, of every port: mean queue / B (ADPG; sheet 8); shape (p,).

    The mean over time, from the integral of the queue. Trap: the mean of samples, or over arriving packets, weighs
    the busy moments more.
    """
    area = growth(record.port_series.time, record.port_series.queue_area, span)
    return np.asarray(8 * area / ((span.length or np.nan) * record.port_rate))


def queue_latency_mean(record: RunRecord, span: Window) -> float:
    """QL of the bottleneck, s."""
    return float(port_queue_latency(record, span)[record.bottleneck])


def receiver_queue_latency(record: RunRecord, span: Window) -> float:
    """QL, s, mean over the ports towards receiving hosts, as `receiver_utilisation` is for SU."""
    return mean(port_queue_latency(record, span)[receiver_ports(record)])


def busiest_queue_latency(record: RunRecord, span: Window) -> float:
    """QL, s, of the port with the highest: what the mean over many ports hides."""
    return float(port_queue_latency(record, span).max(initial=-np.inf)) if len(record.ports) else NAN


def queue_latency_quantile(record: RunRecord, span: Window, q: float) -> float:
    """The waiting time at the bottleneck that a share ``q`` of the arriving packets did not exceed, s.

    Exact to one bin; the longest waiting time bounds it, which is known better.
    """
    latency = ratio(8 * record.queue_histogram.quantile(q), float(record.port_rate[record.bottleneck]))
    return min(latency, queue_latency_max(record, span))  # nan if there were no packets


def queue_latency_max(record: RunRecord, span: Window) -> float:
    """The longest waiting time at the bottleneck in the window, s.

    The port's high-water mark holds it exactly if it rose in the window. If it did not, the mark is from the
    warm-up (every flow starts at line rate there), and the highest bin that a packet of the window fell into, with
    that packet, bounds it: exact to one bin, never too low.
    """
    if span.length <= 0:
        return NAN
    peaks = record.port_series.peak_queue[:, record.bottleneck : record.bottleneck + 1]
    before = float(at(record.port_series.time, peaks, span.start)[0])
    ever = float(peaks[-1, 0])
    filled = np.flatnonzero(record.queue_histogram.counts)
    if ever <= before and len(filled):
        ever = min(ever, float(record.queue_histogram.edges[filled[-1] + 1]) + record.wire_size)
    return ratio(8 * ever, float(record.port_rate[record.bottleneck]))


@dataclass(frozen=True)
class QueueLength:
    """Queue length in bytes over time (PET, Table 1)."""

    mean: float
    std: float


def queue_length(record: RunRecord, span: Window, *, all_ports: bool = False) -> QueueLength:
    """Mean and standard deviation of the samples in the window, of the bottleneck or pooled over the used ports.

    PET prints a "variance" in KB; only a standard deviation has that unit (sheet 6.7). PET does not say which queue
    or ports, so both are given. A port that sent nothing in the window is not used, and is left out of the pool.
    Trap: samples, unlike `queue_latency_mean`; a burst between two of them is not seen.
    """
    ports = record.port_series
    kept = [record.bottleneck]
    if all_ports:
        kept = np.flatnonzero(growth(ports.time, ports.tx_bytes, span) > 0).tolist()
    samples = ports.queue[inside(ports.time, span)][:, kept]
    return QueueLength(float(samples.mean()), float(samples.std())) if samples.size else QueueLength(NAN, NAN)


def message_quantile(record: RunRecord, q: float) -> float:
    """The time that a share ``q`` of the messages did not exceed, s: exact to one bin; nan where each packet is one."""
    return record.message_histogram.quantile(q)


def rtt_quantile(record: RunRecord, q: float) -> float:
    """The RTT that a share ``q`` of the acknowledgements did not exceed, s: exact to one bin, never below the least."""
    return max(record.rtt_histogram.quantile(q), record.rtt_min)  # the former if either is nan


def packet_delay(record: RunRecord) -> float:
    """End-to-end delay of a data packet, source to destination, that 99 % did not exceed, s: DECC's P99 latency.

    Derived: the RTT's quantile less half the base RTT, which is what the way
    back takes when it is empty. This is nearer to DECC's than base RTT / 2 + QL p99 is, for it holds every queue on
    the way and not only the bottleneck's. Trap: where data flows both ways (all to all), acknowledgements wait in
    queues too, and that wait is in it: it is then an upper bound. The base RTT is the median flow's.
    """
    return rtt_quantile(record, 0.99) - base_rtt(record) / 2


def base_rtt(record: Measured) -> float:
    """The median flow's base RTT, s: the yardstick of the emulation's own delays."""
    return quantile(record.flows.base_rtt, 0.5)
