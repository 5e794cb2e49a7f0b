"""Priority flow control: how often switches paused senders, and for how long."""

from __future__ import annotations

import numpy as np

from testbed.report.metrics.spans import Window, growth
from testbed.report.metrics.unknown import NAN, ratio
from testbed.telemetry.record import RunRecord


def pause_frames(record: RunRecord) -> float:
    """PFC frames of all switch ports over the whole run: pauses, their renewals and their ends."""
    frames = record.port_series.pause_frames
    return float(frames[-1].sum()) if len(frames) else NAN


def paused_share(record: RunRecord, span: Window) -> float:
    """The mean share of a span for which a sending host was paused. Trap: ports count frames, hosts know the time."""
    ports = record.port_series
    sending = np.isin(record.port_neighbour, record.flows.src)
    return ratio(float(growth(ports.time, ports.paused, span)[sending].sum()), span.length * float(sending.sum()))
