"""The plot of what the controller set: the window, the rate, or both, whichever it works by."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from testbed.base.arrays import Floats
from testbed.results.record import Measured
from testbed.results.report.callbacks import CHANGED
from testbed.results.report.flows import about, active, flow_curves
from testbed.results.report.plot import Axis, Line, Panel, Plot, over_time, points_of, spread

LOG_FROM = 10  # a range as wide as this is drawn on a logarithmic axis


def decided(record: Measured) -> Plot:
    """A panel for each of window and rate that varies; one that does not if that is all there is."""
    series = record.flow_series
    kept = spread(series.time, points_of(len(record.series_flows)))
    time = series.time[kept]
    there = active(record, time, time)
    known = [
        (title, np.where(np.isfinite(values) & (values > 0), values, np.nan))  # infinity: no limit; 0: not yet set
        for title, values in (("window, kB", series.window[kept] / 1e3), ("rate, Gbit/s", series.rate[kept] / 1e9))
    ]
    told = [one for one in known if varies(np.where(there, one[1], np.nan))]
    told = told or [one for one in reversed(known) if np.isfinite(one[1]).any()][:1] or known[1:]
    panels = [
        Panel(_once(flow_curves(record, time, values, there), number), Axis(title, log=is_wide(values[there])))
        for number, (title, values) in enumerate(told)
    ]
    words = " and ".join(title.partition(",")[0] for title, _ in told).capitalize()
    x = over_time(record.duration, record.warmup)
    return Plot(f"{words} set by the controller", about(record), panels, x, "decided")


def _once(lines: list[Line], panel: int) -> list[Line]:
    """The legend has the names of the first panel, which are those of all."""
    return lines if panel == 0 else [replace(line, listed=False) for line in lines]


def varies(values: Floats) -> bool:
    """Whether it changes over time, the first axis, or any column of it does; what is not finite is not known."""
    columns = values.reshape(len(values), -1).T
    known = (column[np.isfinite(column)] for column in columns)
    return any(len(one) > 0 and float(np.ptp(one)) > CHANGED * float(np.abs(one).max()) for one in known)


def is_wide(values: Floats) -> bool:
    """Whether its range is one for a logarithmic axis."""
    known = values[np.isfinite(values)]
    return len(known) > 0 and bool(known.min() > 0) and float(known.max() / known.min()) > LOG_FROM
