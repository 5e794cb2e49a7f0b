"""What the hosts of a lab know of its switches: packets and marks that arrived. Only a switch knows its queues.

The port towards each host stands for the wire that leads to it; all other figures of ports are nan.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from testbed.base.arrays import Floats, Ints
from testbed.dataplane.wire import QUEUE_BINS
from testbed.engines.lab.operator.host_report import HostReport
from testbed.engines.lab.protocol.counters import INTERFACE
from testbed.live.recorder import PORT_COLUMNS
from testbed.live.snapshot import QUEUE_LIMITS, Counted
from testbed.results.tuner_log import TunerNow

PORT_COUNTERS = {"tx_bytes": "rx_bytes", "tx_packets": "rx_packets", "marked_packets": "ce"}
"""Columns of ports, and what the host behind them counts."""


class LabNetwork:
    """The newest reports of all hosts."""

    def __init__(self, reports: list[HostReport], flows: int) -> None:
        self.reports = reports
        self.flows = flows

    def sample(self, now_ns: int) -> dict[str, Floats]:  # noqa: ARG002 - part of the interface
        """As of the last report of each host."""
        unknown = np.full(len(self.reports), np.nan)
        found = dict.fromkeys((*PORT_COLUMNS, "marked_bytes"), unknown)
        for name, counter in PORT_COUNTERS.items():
            column = INTERFACE.index(counter)
            found[name] = np.array([report.interface[column] for report in self.reports])
        return found

    def sample_queues(self, now_ns: int) -> dict[str, Floats]:  # noqa: ARG002 - part of the interface
        """Ports have one."""
        return {}

    def queue_counts(self) -> Ints:
        """Nothing is known."""
        return np.zeros(QUEUE_BINS, np.int64)

    def queues_found(self) -> Counted:
        """Nothing is known."""
        ports = len(self.reports)
        return Counted(np.zeros((ports, len(QUEUE_LIMITS) + 2), np.int64), np.zeros(ports))

    def delivered(self) -> Ints:
        """Packets that arrived, per flow."""
        return self._received("packets")

    def _received(self, name: str) -> Ints:
        return np.asarray(sum((report.received[name] for report in self.reports), np.zeros(self.flows, np.int64)))

    def drops(self) -> int:
        """By the hosts' NICs and input queues."""
        return sum(int(report.status.get("drops", 0)) for report in self.reports)

    def events(self) -> dict[str, int]:
        """Packets lost between the hosts count for the network: the port is unknown."""
        sent = sum(int(report.flows.sent.sum()) for report in self.reports if report.flows is not None)
        return {
            "ring_overflow": sum(int(report.status.get("ring_full", 0)) for report in self.reports),
            "reordered_packets": int(self._received("reorders").sum()),
            "not_arrived": max(0, sent - int(self.delivered().sum())),
        }

    def shaped(self) -> Floats:
        """Links are shaped by themselves."""
        return np.full(2, np.nan)

    def tuners(self) -> tuple[TunerNow, ...]:
        """The lab's switches have no tuner of ours."""
        return ()

    def described(self) -> dict[str, Any]:
        """Which engine it was."""
        return {"engine": "lab"}
