"""Samples flows and ports while a run goes on, from memory that agents and kernel write anyway.

A sample costs a few array copies; no agent and no packet waits for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
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


@dataclass
class Recorder:
    """Collects samples; flows are a chosen subset of the rack's."""

    flows: Flows
    chosen: Ints  # numbers of the flows whose series are kept
    ports: Ports
    wire_size: int
    time: list[float] = field(default_factory=list)
    flow_samples: list[dict[str, Floats]] = field(default_factory=list)  # blocks of samples, shape (t, n)
    port_samples: list[dict[str, Floats]] = field(default_factory=list)  # shape (t, p)

    def sample(self, now_ns: int, now: float) -> None:
        """Take one sample."""
        sampled = self.ports.sample(now_ns)  # first: a packet that comes after now_ns makes its queue look longer
        flows = self.flows
        columns = {column: getattr(flows, column)[None, self.chosen] for column in FLOW_COLUMNS.values()}
        self.add([now], columns, {name: sampled[name][None] for name in PORT_COLUMNS})

    def add(self, time: list[float], flows: Mapping[str, Floats | Ints], ports: Mapping[str, Floats]) -> None:
        """Add samples that were taken at these times: by columns of the chosen `Flows`, and of `PortSeries`."""
        own = {name: np.asarray(flows[column], np.float64) for name, column in FLOW_COLUMNS.items()}
        own["inflight"] *= self.wire_size
        shape = len(time), ports["queue"].shape[-1]
        self.time += time
        self.flow_samples.append(own)
        self.port_samples.append({name: np.broadcast_to(ports[name], shape) for name in PORT_COLUMNS})

    def flow_series(self) -> FlowSeries:
        """The samples of the chosen flows, shape (t, n)."""
        return FlowSeries(time=np.array(self.time), **_stacked(self.flow_samples))

    def port_series(self) -> PortSeries:
        """The samples of all ports, shape (t, p)."""
        return PortSeries(time=np.array(self.time), **_stacked(self.port_samples))


def _stacked(samples: list[dict[str, Floats]]) -> dict[str, Floats]:
    return {name: np.concatenate([sample[name] for sample in samples], dtype=np.float64) for name in samples[0]}
