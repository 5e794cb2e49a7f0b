"""The queues of the fluid model: what is under way to them, and what they pass on, mark and drop."""

from __future__ import annotations

import numpy as np

from testbed.base.arrays import Floats
from testbed.base.red import mark_share
from testbed.engines.fluid.layout import FluidLayout

QUEUE, LEFT, ARRIVED, MARKED, DROPPED = range(5)  # rows of `Queues.counts`
NEVER = (1e30, 1e30, 0.0)  # RED's thresholds that no queue reaches


class Queues:
    """One queue per destination, each draining at line rate; columns of shape (m,), bytes.

    ``counts`` has a row for the queue now, and cumulative ones: left, arrived (dropped ones included), marked, dropped.
    """

    def __init__(self, layout: FluidLayout, step: float, red: tuple[float, float, float] = NEVER) -> None:
        self.buffer = layout.buffer
        self.per_step = layout.line_rate / 8 * step
        m = self._m = layout.queues
        half = np.maximum(1, np.rint(layout.base_rtt / 2 / step).astype(np.int64))
        self._ring = np.zeros((int(half.max()) + 1) * m)  # arrivals are under way for half a base RTT
        self._at = 0
        self._into = half * m + layout.queue
        self._alike = int(half[0]) * m if (half == half[0]).all() else -1  # then one sum per queue will do
        self._queue_of = layout.queue
        self.counts = np.zeros((5, m))
        self.area = np.zeros(m)  # sum of the queue after each step: times the step it is its integral
        self.now, self.left, self.arrived, self.marked, self.dropped = self.counts
        self.set_thresholds(*(np.full(m, value) for value in red))

    def set_thresholds(self, kmin: Floats, kmax: Floats, pmax: Floats) -> None:
        """RED from now on, per queue: bytes, bytes, share."""
        self.kmin, self.kmax, self.pmax = kmin, kmax, pmax
        self._unmarked = float(kmin.min())  # no queue is marked up to here

    def enter(self, amount: Floats) -> None:
        """Flows send so much, shape (n,): it arrives half a base RTT later."""
        if self._alike >= 0:
            place = (self._at + self._alike) % len(self._ring)
            arriving = amount.sum() if self._m == 1 else np.bincount(self._queue_of, amount, self._m)
            self._ring[place : place + self._m] += arriving
        else:
            places = (self._at + self._into) % len(self._ring)
            self._ring += np.bincount(places, amount, len(self._ring))

    def drain(self) -> None:
        """What arrives now joins the queues, beyond the buffer it is dropped; a step's worth leaves."""
        slot = self._ring[self._at : self._at + self._m]
        self.arrived += slot
        joining = slot
        before = self.now + slot
        after = before - self.per_step
        if np.maximum.reduce(after) > self.buffer:
            lost = np.maximum(after - self.buffer, 0.0)
            self.dropped += lost
            before -= lost
            after -= lost
            joining = slot - lost
        if np.maximum.reduce(self.now) > self._unmarked:
            self.marked += joining * mark_share(self.now, self.kmin, self.kmax, self.pmax)
        np.maximum(after, 0.0, out=self.now)
        self.left += before - self.now
        self.area += self.now
        slot[:] = 0.0
        self._at = (self._at + self._m) % len(self._ring)

    def empty(self, queues: np.ndarray) -> None:
        """Begin these anew."""
        self.counts[:, queues] = 0.0
        self.area[queues] = 0.0
        self._ring.reshape(-1, self._m)[:, queues] = 0.0
