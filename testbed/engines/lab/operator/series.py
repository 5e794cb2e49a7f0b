"""Puts the hosts' samples on one time axis. Each host's time counts from its own start; no clocks are compared."""

from __future__ import annotations

from dataclasses import fields

import numpy as np

from testbed.base.arrays import Floats, Ints
from testbed.engines.lab.operator.host_report import HostReport
from testbed.engines.lab.operator.network import PORT_COUNTERS
from testbed.engines.lab.protocol.counters import INTERFACE
from testbed.results.record import FlowSeries, PortSeries

SHORTEST = 1e-3  # s: a sample costs a few array copies, and its process shares the host
MOST = 5000
CUMULATIVE = ("acked_bytes", "wire_bytes", *INTERFACE)


def sample_interval(wanted: float, duration: float) -> float:
    """s; as wanted, unless samples would cost too much."""
    return max(wanted, SHORTEST, duration / MOST)


class LabSeries:
    """Series of the flows ``chosen``, which are ordered by host, and of the ports towards the hosts."""

    def __init__(self, reports: list[HostReport], chosen: Ints, interval: float, duration: float) -> None:
        self.reports = reports
        self.chosen = chosen
        self.interval = interval
        self.duration = duration
        self.time: list[float] = [0.0]  # of the operator's own samples

    def _grid(self) -> Floats:
        """As long as any host has sampled."""
        last = max((float(one["time"][-1]) for one in self._all() if len(one.get("time", ()))), default=0.0)
        return np.arange(0.0, min(last, self.duration) + self.interval / 2, self.interval)

    def _all(self) -> list[dict[str, Floats]]:
        return [report.recorded("series.") for report in self.reports]

    def flow_series(self) -> FlowSeries:
        """Shape (t, n); nan for a host that was lost before it sent its samples."""
        grid = self._grid()
        return FlowSeries(time=grid, **{name: self._joined(grid, name) for name in _names(FlowSeries)})

    def _joined(self, grid: Floats, name: str) -> Floats:
        parts = []
        for report, samples in zip(self.reports, self._all(), strict=True):
            if samples:
                parts.append(at_times({"time": samples["time"], name: samples[name]}, grid)[name])
            elif report.flows is not None:
                parts.append(np.full((len(grid), report.chosen), np.nan))
        return np.hstack(parts) if parts else np.empty((len(grid), 0))

    def queue_series(self) -> PortSeries:
        """None of them is known to have several."""
        return PortSeries.empty(0)

    def port_series(self) -> PortSeries:
        """Shape (t, p)."""
        grid = self._grid()
        columns = {name: np.full((len(grid), len(self.reports)), np.nan) for name in _names(PortSeries)}
        for port, samples in enumerate(self._all()):
            for name, counter in PORT_COUNTERS.items():
                if samples:
                    known = at_times({"time": samples["time"], counter: samples[counter]}, grid)
                    columns[name][:, port] = known[counter][:, 0]
        return PortSeries(time=grid, **columns)


def at_times(samples: dict[str, Floats], grid: Floats) -> dict[str, Floats]:
    """The same columns at other times: counters interpolated, anything else as it was last."""
    time = samples["time"]
    found: dict[str, Floats] = {}
    for name, column in samples.items():
        if name == "time":
            continue
        if not len(time):
            found[name] = np.full((len(grid), column.shape[1]), np.nan)
        elif name in CUMULATIVE:
            between = np.array([np.interp(grid, time, one) for one in column.T])
            found[name] = between.reshape(column.shape[1], len(grid)).T
        else:
            found[name] = column[np.maximum(np.searchsorted(time, grid, side="right") - 1, 0)]
    return found


def _names(form: type[FlowSeries] | type[PortSeries]) -> list[str]:
    return [one.name for one in fields(form) if one.name != "time"]
