"""Puts the hosts' samples on one time axis. Each host's time counts from its own start; no clocks are compared."""

from __future__ import annotations

from dataclasses import fields

import numpy as np

from testbed.base.arrays import Floats, Ints
from testbed.engines.lab.mirror import Mirror
from testbed.engines.lab.network import KNOWN
from testbed.engines.lab.samples import at_times, interval_of
from testbed.results.record import FlowSeries, PortSeries


class LabSeries:
    """Series of the flows ``chosen``, which are ordered by host, and of the ports towards the hosts."""

    def __init__(self, mirrors: list[Mirror], chosen: Ints, interval: float, duration: float) -> None:
        self.mirrors = mirrors
        self.chosen = chosen
        self.step = interval_of(interval, duration)
        self.duration = duration
        self.time: list[float] = [0.0]  # when the operator's side looked

    def _grid(self) -> Floats:
        """As long as any host has sampled."""
        last = max((float(one["time"][-1]) for one in self._all() if len(one.get("time", ()))), default=0.0)
        return np.arange(0.0, min(last, self.duration) + self.step / 2, self.step)

    def _all(self) -> list[dict[str, Floats]]:
        return [mirror.part("series.") for mirror in self.mirrors]

    def flow_series(self) -> FlowSeries:
        """Shape (t, n). Of a host that did not live to report its samples, nan."""
        grid = self._grid()
        return FlowSeries(time=grid, **{name: self._joined(grid, name) for name in _names(FlowSeries)})

    def _joined(self, grid: Floats, name: str) -> Floats:
        parts = []
        for mirror, samples in zip(self.mirrors, self._all(), strict=True):
            if samples:
                parts.append(at_times({"time": samples["time"], name: samples[name]}, grid)[name])
            elif mirror.flows is not None:
                parts.append(np.full((len(grid), mirror.chosen), np.nan))
        return np.hstack(parts) if parts else np.empty((len(grid), 0))

    def port_series(self) -> PortSeries:
        """Shape (t, p)."""
        grid = self._grid()
        columns = {name: np.full((len(grid), len(self.mirrors)), np.nan) for name in _names(PortSeries)}
        for port, samples in enumerate(self._all()):
            for name, counter in KNOWN.items():
                if samples:
                    known = at_times({"time": samples["time"], counter: samples[counter]}, grid)
                    columns[name][:, port] = known[counter][:, 0]
        return PortSeries(time=grid, **columns)


def _names(form: type[FlowSeries] | type[PortSeries]) -> list[str]:
    return [one.name for one in fields(form) if one.name != "time"]
