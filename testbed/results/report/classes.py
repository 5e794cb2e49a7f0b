"""The plot of a port's queues, where it has several: who waits, and who is served."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from testbed.results.folder import read_table
from testbed.results.measured import column_of, series_of
from testbed.results.record import Measured, PortSeries
from testbed.results.report.plot import Panel, Plot, curves, from_start, growth_rate, ms, over_time, points_of, spread
from testbed.results.tables import QUEUE_SERIES, QUEUES


def queue_plots(run: Path, measured: Measured) -> list[Plot]:
    """Depths and rates of the bottleneck's queues; nothing where a port is one queue. Raises BadInput."""
    if not ((run / QUEUES).is_file() and (run / QUEUE_SERIES).is_file()):  # of a report that has no room for series
        return []
    about, port = read_table(run / QUEUES), measured.ports[measured.bottleneck]
    _, series = series_of(read_table(run / QUEUE_SERIES), "queue_of", PortSeries)
    columns = zip(column_of(about, "port"), column_of(about, "number"), column_of(about, "classes"), strict=True)
    names = [f"{number}: {classes}" if here == port else "" for here, number, classes in columns]
    rows = np.flatnonzero([bool(name) for name in names])
    kept = spread(series.time, points_of(len(rows)))
    shown = [names[row] for row in rows]
    x = over_time(measured.duration, measured.warmup)
    time, mean = growth_rate(*from_start(series.time[kept], series.queue_area[kept][:, rows]))
    _, rate = growth_rate(*from_start(series.time[kept], series.tx_bytes[kept][:, rows]))
    depth = Panel(curves(ms(time), mean / 1e3, shown))
    share = Panel(curves(ms(time), 8 * rate / 1e9, shown))
    return [
        Plot(f"Queues of {port}", "kB, mean between samples, by queue and class", [depth], x, "classes"),
        Plot(f"Rates of the queues of {port}", "wire bytes that left, Gbit/s", [share], x, "class-rates"),
    ]
