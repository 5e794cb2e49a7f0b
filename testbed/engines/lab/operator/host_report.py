"""What one host has reported: a copy of its agent's shared memory, as old as its last report.

So everything that reads an agent's memory in the rack reads the same columns here.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from testbed.agent.columns import Flows
from testbed.agent.meter import Meter
from testbed.base.arrays import Ints
from testbed.engines.lab.protocol.channel import Message
from testbed.engines.lab.protocol.counters import INTERFACE, RECEIVED
from testbed.errors import TestbedError
from testbed.results.record import RTT_BINS_PER_OCTAVE
from testbed.results.trace import DecisionTrace


class HostReport:
    """One host. ``flows``: its part of the run's columns; None if it only receives. ``total``: flows of the run.

    ``chosen``: how many of its flows have series.
    """

    def __init__(self, name: str, flows: Flows | None, total: int, chosen: int) -> None:
        self.name = name
        self.flows = flows
        self.chosen = chosen
        self.meter = Meter(RTT_BINS_PER_OCTAVE) if flows is not None else None
        self.received: dict[str, Ints] = {one: np.zeros(total, np.int64) for one in RECEIVED}
        self.interface = np.zeros(len(INTERFACE))
        self.status: dict[str, Any] = {}
        self.record: dict[str, NDArray[Any]] = {}  # at the end of the run
        self.least_idle = 1.0
        self.stolen = 0.0

    def update(self, message: Message) -> None:
        """From a status or the record. Raises TestbedError if its columns are not those of this run."""
        arrays = message.arrays
        try:
            for name, column in self.received.items():
                column[:] = arrays[f"rx.{name}"]
            self.interface[:] = arrays["interface"]
            if self.flows is not None:
                _copy(self.flows.columns(), arrays, "flows.")
            if self.meter is not None:
                _copy(self.meter.columns(), arrays, "meter.")
        except (KeyError, ValueError) as error:
            raise TestbedError(f"{self.name} reported something else than its counters: {error}") from None
        self.status = message.data
        self.least_idle = float(message.data.get("idle", 1.0))
        self.stolen = float(message.data.get("stolen", 0.0))
        if message.kind == "record":
            self.record = arrays

    def recorded(self, prefix: str) -> dict[str, NDArray[Any]]:
        """Part of the record, without the prefix; empty if the host was lost before it sent one."""
        return {name.removeprefix(prefix): one for name, one in self.record.items() if name.startswith(prefix)}

    def trace(self) -> DecisionTrace:
        """Feedback and decisions of its controller."""
        packed = self.recorded("trace.")
        return DecisionTrace.unpacked(packed) if packed else DecisionTrace(0, 0)


def _copy(into: dict[str, NDArray[Any]], arrays: dict[str, NDArray[Any]], prefix: str) -> None:
    for name, column in into.items():
        column[...] = arrays[prefix + name]
