"""Time series that a host takes of its own flows and of what reaches its interface, on its own clock."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from testbed.agent.columns import Flows
from testbed.base.arrays import Floats, Ints
from testbed.live.recorder import FLOW_COLUMNS

SHORTEST = 1e-3  # s: a sample costs a few array copies, and its process shares the host
MOST = 5000
COUNTED = ("rx_bytes", "rx_packets", "ce")
CUMULATIVE = ("acked_bytes", "wire_bytes", *COUNTED)


def interval_of(wanted: float, duration: float) -> float:
    """Between two samples, s."""
    return max(wanted, SHORTEST, duration / MOST)


class Samples:
    """``counted`` gives what `COUNTED` names, as of now."""

    def __init__(
        self, flows: Flows, chosen: Sequence[int], wire_size: int, counted: Callable[[], Sequence[float]]
    ) -> None:
        self.flows, self.wire_size, self.counted = flows, wire_size, counted
        self.chosen: Ints = np.array(chosen, np.int64)
        self.time: list[float] = []
        self._rows: list[list[Floats]] = []
        self._counts: list[Sequence[float]] = []

    def take(self, now: float) -> None:
        """One sample."""
        flows, chosen = self.flows, self.chosen
        columns = [getattr(flows, column)[chosen].astype(float) for column in FLOW_COLUMNS.values()]
        columns += [flows.rtt[chosen], flows.inflight[chosen] * float(self.wire_size)]
        self.time.append(now)
        self._rows.append(columns)
        self._counts.append(self.counted())

    def columns(self) -> dict[str, NDArray[Any]]:
        """``time`` of shape (t,), those of flows (t, n), those of the interface (t, 1)."""
        names = [*FLOW_COLUMNS, "rtt", "inflight"]
        rows = np.array(self._rows).reshape(len(self.time), len(names), len(self.chosen))
        counts = np.array(self._counts, float).reshape(len(self.time), len(COUNTED))
        found = {"time": np.array(self.time), **{name: rows[:, i] for i, name in enumerate(names)}}
        return found | {name: counts[:, i : i + 1] for i, name in enumerate(COUNTED)}


def at_times(samples: dict[str, NDArray[Any]], grid: Floats) -> dict[str, Floats]:
    """The same columns at other times: counters in between, anything else as it was last."""
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
