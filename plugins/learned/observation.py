"""What learned tuners see of a queue: `FEATURES` numbers per slot, about 0 to 1, of the last slots side by side."""

from __future__ import annotations

import numpy as np

from testbed.controller import Floats
from testbed.tuner import History, Ports, PortSample

UNIT = 20e3  # bytes: E(0) of the published grid; queues and thresholds span decades, so they are seen on a log scale
OCTAVES = 10.0  # above `UNIT`
MOST_SENDERS = 7.0  # octaves
BASIC = ("queue", "mean_queue", "tx_rate", "marked_rate", "kmin", "kmax", "pmax")
FLOWS = ("incast_degree", "mice_share")


class Observation:
    """The newest slots of all queues of a switch. With ``flows`` what the network condition monitor tells is in it.

    Where nothing monitors, or no flow is there, it looks as if nobody sent and all flows were mice.
    """

    def __init__(self, ports: Ports, slots: int, *, flows: bool) -> None:
        self.ports, self.flows = ports, flows
        self.history = History(slots)

    def append(self, sample: PortSample) -> Floats:
        """All features after this slot, shape (n, slots * features)."""
        rate = self.ports.rate
        columns = [
            octaves(sample.queue),
            octaves(sample.mean_queue),
            sample.tx_rate / rate,
            sample.marked_rate / rate,
            octaves(sample.kmin),
            octaves(sample.kmax),
            sample.pmax,
        ]
        if self.flows:
            senders, mice = sample.incast_degree, sample.mice_share
            columns += [np.log2(1 + _known(senders, 0.0)) / MOST_SENDERS, _known(mice, 1.0)]
        return self.history.append(np.stack(columns, axis=1))


def width(slots: int, *, flows: bool) -> int:
    """Features of one queue."""
    return slots * (len(BASIC) + len(FLOWS) * flows)


def _known(column: Floats, otherwise: float) -> Floats:
    return np.where(np.isnan(column), otherwise, column)


def octaves(size: Floats) -> Floats:
    """Bytes to a number that grows by a tenth per doubling, from 0 on."""
    return np.asarray(np.log2(1 + size / UNIT) / OCTAVES)
