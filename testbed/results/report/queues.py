"""The plot of the queues where there are many: the few that were longest."""

from __future__ import annotations

import numpy as np

from testbed.results import figures
from testbed.results.record import Measured
from testbed.results.report.plot import Panel, Plot, curves, from_start, growth_rate, ms, over_time, points_of, spread

MOST_PORTS = 8


def busiest_queues(record: Measured) -> Plot:
    """Mean queues over time, kB, of the ports where the mean over the window is highest."""
    ports, span = record.port_series, figures.window(record)
    area = np.nan_to_num(figures.growth(ports.time, ports.queue_area, span))
    shown = np.argsort(-area, kind="stable")[:MOST_PORTS]
    kept = spread(ports.time, points_of(len(shown)))
    time, mean = growth_rate(*from_start(ports.time[kept], ports.queue_area[kept][:, shown]))
    names = [f"{record.ports[port]} to {record.port_neighbour[port]}" for port in shown.tolist()]
    of_all = f"the {len(shown)} longest of {len(record.ports)}" if len(shown) < len(record.ports) else "all ports"
    x = over_time(record.duration, record.warmup)
    return Plot(
        "Queues", f"kB, mean between samples; {of_all}", [Panel(curves(ms(time), mean / 1e3, names))], x, "queues"
    )
