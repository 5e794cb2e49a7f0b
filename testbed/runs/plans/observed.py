"""What a run of a case showed, in the words of the plans: queues of ports, classes, flows by label."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import nan

import numpy as np

from testbed.base.arrays import Floats, Ints
from testbed.experiment.resolved import Resolved
from testbed.results.record import Queues, RunRecord
from testbed.runs.plans.packets import Packets


@dataclass(frozen=True)
class Observed:
    """Totals are of the whole run, rates of the window after warm-up."""

    resolved: Resolved
    record: RunRecord
    captured: Sequence[Packets] = ()
    found: float = nan  # by a search

    @cached_property
    def queues(self) -> Queues:
        """Of all ports."""
        assert self.record.queues is not None
        return self.record.queues

    def rows(self, queues: Sequence[int], hosts: Sequence[str] = ()) -> Ints:
        """Those queues, of the ports to these hosts or of all."""
        neighbours = np.array(self.record.port_neighbour)[self.queues.port]
        chosen = np.isin(self.queues.number, queues)
        return np.flatnonzero(chosen & np.isin(neighbours, hosts) if hosts else chosen)

    def dropped(self, queues: Sequence[int], since: float = 0.0, until: float = float("inf")) -> float:
        """Packets that these queues have dropped meanwhile."""
        series, rows = self.queues.series, self.rows(queues)
        inside = np.flatnonzero((series.time >= since) & (series.time <= until))
        return float((series.dropped_packets[inside[-1], rows] - series.dropped_packets[inside[0], rows]).sum())

    def total(self, column: str, queues: Sequence[int], hosts: Sequence[str] = ()) -> float:
        """Of a counter: `tx_packets`, `marked_packets`, `dropped_packets`, `tx_bytes`."""
        return float(getattr(self.queues.series, column)[-1, self.rows(queues, hosts)].sum())

    def sent(self, queues: Sequence[int], hosts: Sequence[str]) -> float:
        """Bytes that they have sent in the window."""
        series = self.queues.series
        inside = np.flatnonzero(series.time >= self.record.warmup)
        bytes_ = series.tx_bytes[:, self.rows(queues, hosts)].sum(axis=1)
        return float(bytes_[inside[-1]] - bytes_[inside[0]])

    def flows(self, label: str = "") -> Ints:
        """Rows of those flows, or of all."""
        return np.flatnonzero([not label or one == label for one in self.record.flows.label])

    def count(self, column: str, label: str = "") -> float:
        """Of flows: `lost_packets`, `cnps`, `timeouts`, `acked_packets`, `sent_packets`, `ce_packets`."""
        return float(getattr(self.record.flows, column)[self.flows(label)].sum())

    def rates(self, label: str = "") -> Floats:
        """Goodput of each flow in the window, bit/s."""
        span = self.record.duration - self.record.warmup
        return np.asarray(self.record.acked_in_window)[self.flows(label)] * 8 / span

    def late(self, label: str = "") -> float:
        """Longest RTT beyond the base RTT that a sample of the window shows, in ns."""
        series, chosen = self.record.flow_series, np.isin(self.record.series_flows, self.flows(label))
        beyond = series.rtt[series.time >= self.record.warmup] - self.record.flows.base_rtt[self.record.series_flows]
        return float(np.nanmax(beyond[:, chosen])) * 1e9

    def uplinks(self, switch: str, since: float = 0.0, until: float = float("inf")) -> Floats:
        """Bytes that each port of a switch to other switches has sent meanwhile."""
        found = [
            at
            for at, (port, peer) in enumerate(zip(self.record.ports, self.record.port_neighbour, strict=True))
            if port.startswith(f"{switch}-") and peer in self.resolved.experiment.shape.switches
        ]
        series = self.record.port_series
        inside = np.flatnonzero((series.time >= since) & (series.time <= until))
        return np.asarray(series.tx_bytes[inside[-1], found] - series.tx_bytes[inside[0], found])

    def paused(self, priorities: Sequence[int]) -> float:
        """Times that groups of these priorities paused their senders."""
        groups = self.record.groups
        assert groups is not None
        return float(groups.pauses[np.isin(groups.number, priorities)].sum())

    def held(self, queue: int, host: str) -> float:
        """For which share of the window that queue of the port to a host was held, in %."""
        series, rows = self.queues.series, self.rows([queue], [host])
        held = series.paused[series.time >= self.record.warmup][:, rows]
        return float((held[-1] - held[0]).sum() / (self.record.duration - self.record.warmup)) * 100

    @property
    def pauses_seen(self) -> float:
        """Pause frames that came in where it was captured."""
        return float(sum(len(one.pauses) for one in self.captured))

    @property
    def pauses(self) -> float:
        """Pause frames that switches have sent."""
        return float(self.record.port_series.pause_frames[-1].sum())


def apart(one: float, other: float) -> float:
    """By how many % the first differs from the second; of nothing, nan."""
    return abs(one / other - 1) * 100 if other else float("nan")
