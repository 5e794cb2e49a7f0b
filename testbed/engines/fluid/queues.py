"""The queues of the fluid model: what is under way to them, and what they pass on, mark and drop (model.c)."""

from __future__ import annotations

import numpy as np

from testbed.base.arrays import Floats
from testbed.engines.fluid.core import Core
from testbed.engines.fluid.layout import FluidLayout

QUEUE, LEFT, ARRIVED, MARKED, DROPPED, COUNTS = range(6)  # rows of `Queues.counts`, and how many; as in model.h
NEVER = (1e30, 1e30, 0.0)  # RED's thresholds that no queue reaches


class Queues:
    """One queue per destination, each draining at line rate; columns of shape (m,), bytes.

    ``counts`` has a row for the queue now, and cumulative ones: left, arrived (dropped ones included), marked, dropped.
    """

    def __init__(self, layout: FluidLayout, core: Core, red: tuple[float, float, float] = NEVER) -> None:
        m = layout.queues
        half = np.maximum(1, np.rint(layout.base_rtt / 2 / core.step).astype(np.int64))
        self._ring = np.zeros((int(half.max()) + 1) * m)  # arrivals are under way for half a base RTT
        self.counts = np.zeros((COUNTS, m))
        self.area = np.zeros(m)  # sum of the queue after each step: times the step it is its integral
        self.now, self.left, self.arrived, self.marked, self.dropped = self.counts
        self._red = np.zeros((3, m))
        self.set_thresholds(*(np.full(m, value) for value in red))
        core.queues, core.buffer, core.per_step = m, layout.buffer, layout.line_rate / 8 * core.step
        core.ring_size = len(self._ring)
        core.alike = int(half[0]) * m if (half == half[0]).all() else -1  # then one sum per queue will do
        core.point(counts=self.counts, area=self.area, red=self._red, ring=self._ring)
        core.point(into=half * m + layout.queue, into_slot=np.zeros(len(self._ring)))

    def set_thresholds(self, kmin: Floats, kmax: Floats, pmax: Floats) -> None:
        """RED from now on, per queue: bytes, bytes, share."""
        self._red[:] = kmin, kmax, pmax
