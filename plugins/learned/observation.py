"""What learned tuners see of a queue: `FEATURES` numbers per slot, about 0 to 1, of the last slots side by side."""

from __future__ import annotations

import numpy as np

from testbed.base.arrays import Floats
from testbed.tuner import Ports, PortSample

UNIT = 20e3  # bytes: E(0) of the published grid; queues and thresholds span decades, so they are seen on a log scale
OCTAVES = 10.0  # above `UNIT`
MOST_SENDERS = 7.0  # octaves
BASIC = ("queue", "mean_queue", "tx_rate", "marked_rate", "kmin", "kmax", "pmax")
FLOWS = ("incast_degree", "mice_share")


class Observation:
    """The newest slots of all queues of a switch. With ``flows`` including the network condition monitor's figures.

    Where nothing monitors, or no flow is there, it looks as if there were no senders and all flows were mice.
    """

    def __init__(self, ports: Ports, slots: int, *, flows: bool, scale: Floats | float = 1.0) -> None:
        """``scale``: of the unit of sizes, one for all queues or shape (n,)."""
        self.flows = flows
        one = np.ones(len(ports))
        sizes = UNIT * scale * one
        units = [sizes, sizes, ports.rate, ports.rate, sizes, sizes, one, *([one, one] if flows else [])]
        octaves = [OCTAVES, OCTAVES, 1, 1, OCTAVES, OCTAVES, 1, *([MOST_SENDERS, 1] if flows else [])]
        self._unit, self._octaves = np.array(units), np.array(octaves)[:, None]
        self._logged = self._octaves > 1
        self._slots = np.zeros((slots, *self._unit.shape))  # oldest first; a row per feature
        self._empty = True

    def append(self, sample: PortSample) -> Floats:
        """All features after this slot, shape (n, slots * features).

        In few calls of numpy, for all at once: after a slot's sleep nothing of them is in the processor's caches.
        """
        slots = self._slots
        slots[:-1] = slots[1:]
        now = slots[-1]
        now[0], now[1], now[2], now[3] = sample.queue, sample.mean_queue, sample.tx_rate, sample.marked_rate
        now[4], now[5], now[6] = sample.kmin, sample.kmax, sample.pmax
        if self.flows:  # fmax and fmin pass over nan
            np.fmax(sample.incast_degree, 0.0, out=now[7])
            np.fmin(sample.mice_share, 1.0, out=now[8])
        now /= self._unit
        now += self._logged
        np.log2(now, out=now, where=self._logged)
        now /= self._octaves
        if self._empty:  # the first slot stands for those before it
            slots[:] = now
            self._empty = False
        return np.array(slots.reshape(-1, slots.shape[-1]).T, np.float32, order="C")


def width(slots: int, *, flows: bool) -> int:
    """Features of one queue."""
    return slots * (len(BASIC) + len(FLOWS) * flows)
