"""Whether pauses wait for each other at the end of a run: which ports, and since when none of them has sent."""

from __future__ import annotations

import numpy as np

from testbed.base.arrays import Floats, Ints
from testbed.experiment.deadlock import cycle, every_dependency
from testbed.experiment.layout import Layout
from testbed.experiment.topology.tables import Tables
from testbed.results.record import RunRecord
from testbed.units import rounded, show_time

GRACE = 50e-6  # s without a packet: no pause of a rack that moves lasts as long at every port of a cycle


def deadlocked(record: RunRecord, layout: Layout) -> str:
    """The ports of a cycle, all of which stand still with packets in their queues; empty if there is none."""
    queues, ports = record.queues, record.port_series
    series = queues.series if queues else ports
    port_of: Ints = queues.port if queues else np.arange(len(record.ports))
    if not len(series.time):
        return ""
    since = _last_sent(series.time, series.tx_bytes)
    still = (series.queue[-1] > 0) & (record.duration - since > GRACE)
    stopped: dict[str, float] = {}
    for row in np.flatnonzero(still).tolist():
        name = record.ports[int(port_of[row])]
        stopped[name] = min(stopped.get(name, np.inf), float(since[row]))
    graph = every_dependency(Tables(layout.shape), layout.experiment.steps())
    found = cycle({port: graph.get(port, set()) & stopped.keys() for port in stopped})
    if not found:
        return ""
    moment = show_time(rounded(max(stopped[port] for port in found)))
    return f"{' -> '.join([*found, found[0]])}, since {moment}"


def _last_sent(time: Floats, sent: Floats) -> Floats:
    """When each column grew last; 0 if it never did."""
    grew = np.diff(sent, axis=0) > 0
    last = len(grew) - 1 - np.argmax(grew[::-1], axis=0)
    return np.where(grew.any(axis=0), time[np.minimum(last + 1, len(time) - 1)], 0.0)
