"""How much of the links was used."""

from __future__ import annotations

import numpy as np

from testbed.base.arrays import Floats, Ints
from testbed.results.figures.spans import Window, growth
from testbed.results.figures.unknown import mean, ratio
from testbed.results.record import RunRecord


def receiver_ports(record: RunRecord) -> Ints:
    """Columns of the switch ports towards hosts that receive: the congestion points of many-to-one and all-to-all."""
    receivers = set(record.flows.dst)
    return np.flatnonzero([neighbour in receivers for neighbour in record.port_neighbour])


def port_utilisation(record: RunRecord, span: Window) -> Floats:
    """SU, switch utilisation, %, of every port: bytes through it / (B x time) (ADPG; sheet 8); shape (p,).

    Trap: wire bytes, counted at the switch port, not payload at the receivers.
    """
    sent = growth(record.port_series.time, record.port_series.tx_bytes, span)
    return np.asarray(100 * 8 * sent / (record.port_rate * (span.length or np.nan)))


def utilisation(record: RunRecord, span: Window) -> float:
    """SU of the bottleneck, %: ADPG's Table 2, many to one."""
    return float(port_utilisation(record, span)[record.bottleneck])


def receiver_utilisation(record: RunRecord, span: Window) -> float:
    """SU, %, mean over the ports towards receiving hosts: ADPG's Table 3, all to all, has one per host.

    ADPG does not say how it sums up its N congestion points; the mean is ours. Trap: a rack's other ports (uplinks,
    hosts that only send) would pull the mean down without being a congestion point.
    """
    return mean(port_utilisation(record, span)[receiver_ports(record)])


def flow_goodput(record: RunRecord, span: Window) -> Floats:
    """Unique payload per time (sheet 8) of each flow over the whole window, bit/s.

    Trap: payload, not wire bytes; and it is what was acknowledged, so what is in flight at the end does not count.
    """
    acked = growth(record.flow_series.time, record.flow_series.acked_bytes, span)
    if len(acked) < len(record.flows):  # record.flows: only some have series
        acked = record.acked_in_window if span.length > 0 else np.full(len(record.flows), np.nan)
    return np.asarray(8 * acked / span.length) if span.length > 0 else acked


def long_bandwidth(record: RunRecord, span: Window) -> float:
    """LBW, %: wire bytes of the flows labelled long, acknowledged in the window / (B x time) of the bottleneck.

    ADPG's appendix and DECC's figure 11. Neither defines the heading; wire bytes make it the long flows' part of SU.
    nan without such flows.
    """
    kept = np.array([label == "long" for label in record.flows.label], bool)
    if not kept.any():
        return float("nan")
    wire = float(flow_goodput(record, span)[kept].sum()) * record.wire_size / record.payload
    return ratio(100 * wire, float(record.port_rate[record.bottleneck]))
