"""Priority flow control: how often switches paused senders, and for how long."""

from __future__ import annotations

import numpy as np

from testbed.results.figures.spans import Window, growth
from testbed.results.figures.unknown import NAN, ratio
from testbed.results.record import RunRecord


def pause_frames(record: RunRecord) -> float:
    """PFC frames of all switch ports over the whole run: pauses, their renewals and their ends."""
    frames = record.port_series.pause_frames
    return float(frames[-1].sum()) if len(frames) else NAN


def paused_share(record: RunRecord, span: Window) -> float:
    """The mean share of a span for which a sending host was paused. Trap: ports count frames, hosts know the time."""
    ports = record.port_series
    sending = np.isin(record.port_neighbour, record.flows.src)
    return ratio(float(growth(ports.time, ports.paused, span)[sending].sum()), span.length * float(sending.sum()))


def most_paused_port(record: RunRecord, span: Window) -> tuple[str, float]:
    """The port between switches that was paused for longest in a span, and for which share of it.

    An empty name and nan where there is none. Trap: the series of a port tells how long its *far* end was paused.
    """
    ports, neighbours = record.port_series, record.port_neighbour
    switches = [name.rpartition("-")[0] for name in record.ports]
    near = [place for place, neighbour in enumerate(neighbours) if neighbour in switches]
    if not near or not record.lossless or not len(ports.time):
        return "", NAN
    paused = growth(ports.time, ports.paused, span)
    longest = max(near, key=lambda place: float(paused[place]))
    ends = zip(switches, neighbours, strict=True)
    far = list(ends).index((neighbours[longest], switches[longest]))
    return record.ports[far], ratio(float(paused[longest]), span.length)
