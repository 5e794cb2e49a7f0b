"""Samples that a host takes of its own flows and of what arrives at its interface, on its own clock."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from testbed.agent.columns import Flows
from testbed.base.arrays import Floats, Ints
from testbed.engines.lab.protocol.counters import INTERFACE
from testbed.live.recorder import FLOW_COLUMNS


class Sampler:
    """``counters`` gives what `INTERFACE` names, as of now."""

    def __init__(
        self, flows: Flows, chosen: Sequence[int], wire_size: int, counters: Callable[[], Sequence[float]]
    ) -> None:
        self.flows, self.wire_size, self.counters = flows, wire_size, counters
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
        self._counts.append(self.counters())

    def columns(self) -> dict[str, NDArray[Any]]:
        """``time`` of shape (t,), those of flows (t, n), those of the interface (t, 1)."""
        names = [*FLOW_COLUMNS, "rtt", "inflight"]
        rows = np.array(self._rows).reshape(len(self.time), len(names), len(self.chosen))
        counts = np.array(self._counts, float).reshape(len(self.time), len(INTERFACE))
        found = {"time": np.array(self.time), **{name: rows[:, i] for i, name in enumerate(names)}}
        return found | {name: counts[:, i : i + 1] for i, name in enumerate(INTERFACE)}
