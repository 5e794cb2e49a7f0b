"""Samples flows and ports while a run goes on, from memory that agents and kernel write anyway.

A sample costs a few array copies; no agent and no packet waits for it.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Protocol

import numpy as np

from testbed.agent.columns import Flows
from testbed.base.arrays import Floats, Ints
from testbed.live.samples import Samples
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


class Recorder:
    """Collects samples; flows are a chosen subset of the rack's."""

    def __init__(
        self,
        flows: Flows,
        chosen: Ints,
        ports: Ports,
        wire_size: int,
        *,
        queues: Ports | None = None,
        expected: int = 0,
    ) -> None:
        """``chosen``: numbers of the flows whose series are kept; ``queues``: their rows, where ports have several;
        ``expected``: how many samples there will be.
        """
        self._queues = queues
        self.flows, self.chosen, self.ports, self.wire_size = flows, chosen, ports, wire_size
        self.time: list[float] = []
        self.flow_samples, self.port_samples = Samples(FLOW_COLUMNS, expected), Samples(PORT_COLUMNS, expected)
        self.queue_samples = Samples(PORT_COLUMNS, expected)

    def sample(self, now_ns: int, now: float) -> None:
        """Take one sample."""
        sampled = self.ports.sample(now_ns)  # first: a packet that comes after now_ns makes its queue look longer
        self.time.append(now)
        flows = {name: getattr(self.flows, column)[self.chosen] for name, column in FLOW_COLUMNS.items()}
        self.flow_samples.add(flows | {"inflight": flows["inflight"] * self.wire_size})
        self.port_samples.add(sampled)
        if self._queues:
            self.queue_samples.add(self._queues.sample(now_ns))

    def flow_series(self) -> FlowSeries:
        """The samples of the chosen flows, shape (t, n)."""
        return FlowSeries(time=np.array(self.time), **self.flow_samples.columns())

    def queue_series(self) -> PortSeries:
        """The samples of all queues, where ports have several, shape (t, q)."""
        return PortSeries(time=np.array(self.time), **self.queue_samples.columns())

    def port_series(self) -> PortSeries:
        """The samples of all ports, shape (t, p)."""
        return PortSeries(time=np.array(self.time), **self.port_samples.columns())
