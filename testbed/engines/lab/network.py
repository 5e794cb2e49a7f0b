"""What the hosts of a lab see of its switches: what arrived, and with how many marks. Queues only a switch knows.

The port towards each host stands for the wire that leads to it; all other figures of ports are nan.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from testbed.base.arrays import Floats, Ints
from testbed.dataplane.wire import QUEUE_BINS
from testbed.engines.lab.mirror import Mirror
from testbed.engines.lab.samples import COUNTED
from testbed.live.recorder import PORT_COLUMNS
from testbed.live.snapshot import QUEUE_LIMITS, Counted
from testbed.results.tuner_log import TunerNow

KNOWN = {"tx_bytes": "rx_bytes", "tx_packets": "rx_packets", "marked_packets": "ce"}
"""Columns of ports, and what the host behind them counts."""


class LabNetwork:
    """The newest of what all hosts have said."""

    def __init__(self, mirrors: list[Mirror], flows: int) -> None:
        self.mirrors = mirrors
        self.flows = flows

    def sample(self, now_ns: int) -> dict[str, Floats]:  # noqa: ARG002 - part of the interface
        """As of the last report of each host."""
        unknown = np.full(len(self.mirrors), np.nan)
        found = dict.fromkeys((*PORT_COLUMNS, "marked_bytes"), unknown)
        for name, counter in KNOWN.items():
            column = COUNTED.index(counter)
            found[name] = np.array([mirror.interface[column] for mirror in self.mirrors])
        return found

    def queue_counts(self) -> Ints:
        """Nothing is known."""
        return np.zeros(QUEUE_BINS, np.int64)

    def queues_found(self) -> Counted:
        """Nothing is known."""
        ports = len(self.mirrors)
        return Counted(np.zeros((ports, len(QUEUE_LIMITS) + 2), np.int64), np.zeros(ports))

    def delivered(self) -> Ints:
        """Packets that arrived, per flow."""
        return self._received("packets")

    def _received(self, name: str) -> Ints:
        return np.asarray(sum((mirror.received[name] for mirror in self.mirrors), np.zeros(self.flows, np.int64)))

    def drops(self) -> int:
        """By the hosts' NICs and input queues."""
        return sum(int(mirror.seen.get("drops", 0)) for mirror in self.mirrors)

    def events(self) -> dict[str, int]:
        """What was lost between the hosts is the network's: nobody knows at which port."""
        sent = sum(int(mirror.flows.sent.sum()) for mirror in self.mirrors if mirror.flows is not None)
        return {
            "ring_overflow": sum(int(mirror.seen.get("ring_full", 0)) for mirror in self.mirrors),
            "reordered_packets": int(self._received("reorders").sum()),
            "not_arrived": max(0, sent - int(self.delivered().sum())),
        }

    def tuners(self) -> tuple[TunerNow, ...]:
        """The lab's switches have no tuner of ours."""
        return ()

    def described(self) -> dict[str, Any]:
        """Which engine it was."""
        return {"engine": "lab"}
