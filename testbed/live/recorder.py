"""Samples flows and ports while a run goes on, from memory that agents and kernel write anyway.

A sample costs a few array copies; no agent and no packet waits for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Protocol

import numpy as np

from testbed.agent.columns import Flows
from testbed.base.arrays import Floats, Ints
from testbed.results.record import FlowSeries, PortSeries

FLOW_COLUMNS = {
    "acked_bytes": "acked_payload", "wire_bytes": "acked_wire", "rate": "rate", "window": "window", "rtt": "rtt",
    "inflight": "inflight",
}  # fmt: skip
PORT_COLUMNS = [one.name for one in fields(PortSeries) if one.name != "time"]


def largest(size: Floats, most: int) -> Ints:
    """The numbers, ascending, of at most so many flows to keep series of: endless ones first, then by size.

    Series of thousands of short flows say little; of equal ones the first are taken.
    """
    return np.sort(np.argsort(-size, kind="stable")[:most])


class Ports(Protocol):
    """The counters of all ports."""

    def sample(self, now_ns: int) -> dict[str, Floats]:
        """The columns of `PortSeries`, and perhaps others."""
        ...


class Samples:
    """Columns of samples, in memory that is there once it is written to.

    It grows if there are more samples than were ``expected``. A column that is the same in all samples takes none.
    """

    def __init__(self, names: Iterable[str], expected: int) -> None:
        self._names, self._expected, self._length = list(names), expected, 0
        self._same: dict[str, Floats] = {}  # rows of columns that have not changed
        self._memory = np.empty((len(self._names), 0, 0))  # one piece: the kernel gives large pages to large ones

    def add(self, count: int, columns: Mapping[str, Floats | Ints]) -> None:
        """Add so many samples. A column may have one row for all of them."""
        before, self._length = self._length, self._length + count
        if not before:
            self._same = {name: _first(columns[name]) for name in self._names}
        if self._length > self._memory.shape[1]:
            self._grow(before)
        for name, memory in zip(self._names, self._memory, strict=True):
            rows, same = columns[name], self._same.get(name)
            if same is not None:
                if (rows == same).all():
                    continue
                memory[:before] = self._same.pop(name)
            memory[before : self._length] = rows

    def _grow(self, before: int) -> None:
        room = 2 * self._length if before else max(self._expected, self._length)
        width = self._memory.shape[2] if before else len(self._same[self._names[0]])
        larger = np.empty((len(self._names), room, width))
        for name, old, new in zip(self._names, self._memory, larger, strict=True):
            if name not in self._same:
                new[:before] = old[:before]
        self._memory = larger

    def columns(self) -> dict[str, Floats]:
        """All samples, shape (t, width); not to be written to."""
        return {
            name: np.broadcast_to(self._same[name], (self._length, len(self._same[name])))
            if name in self._same
            else memory[: self._length]
            for name, memory in zip(self._names, self._memory, strict=True)
        }


def _first(rows: Floats | Ints) -> Floats:
    return np.array(rows.reshape(-1, rows.shape[-1])[0], float)


class Recorder:
    """Collects samples; flows are a chosen subset of the rack's."""

    def __init__(self, flows: Flows, chosen: Ints, ports: Ports, wire_size: int, *, expected: int = 0) -> None:
        """``chosen``: numbers of the flows whose series are kept; ``expected``: how many samples there will be."""
        self.flows, self.chosen, self.ports, self.wire_size = flows, chosen, ports, wire_size
        self.time: list[float] = []
        self._flow_samples, self._port_samples = Samples(FLOW_COLUMNS, expected), Samples(PORT_COLUMNS, expected)

    def sample(self, now_ns: int, now: float) -> None:
        """Take one sample."""
        sampled = self.ports.sample(now_ns)  # first: a packet that comes after now_ns makes its queue look longer
        self.add([now], {column: getattr(self.flows, column)[self.chosen] for column in FLOW_COLUMNS.values()}, sampled)

    def add(self, time: list[float], flows: Mapping[str, Floats | Ints], ports: Mapping[str, Floats]) -> None:
        """Add samples that were taken at these times: by columns of the chosen `Flows`, and of `PortSeries`."""
        self.time += time
        own = {name: flows[column] for name, column in FLOW_COLUMNS.items()}
        self._flow_samples.add(len(time), own | {"inflight": own["inflight"] * self.wire_size})
        self._port_samples.add(len(time), ports)

    def flow_series(self) -> FlowSeries:
        """The samples of the chosen flows, shape (t, n)."""
        return FlowSeries(time=np.array(self.time), **self._flow_samples.columns())

    def port_series(self) -> PortSeries:
        """The samples of all ports, shape (t, p)."""
        return PortSeries(time=np.array(self.time), **self._port_samples.columns())
