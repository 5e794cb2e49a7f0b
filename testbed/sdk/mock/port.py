"""The switch port of the mock data path: a queue with tail drop, RED marking and INT.

The same virtual queue as the real port's: it drains at exactly the port's rate, RED looks at the instantaneous queue,
and INT reports the bytes that have left the queue.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

import numpy as np

from testbed.base.red import mark_share
from testbed.controller import IntStack

INT_WIDTH = 5  # hops that an INT stack has room for, as in the real record


@dataclass(frozen=True)
class Stamp:
    """What INT says of the port when a packet joins its queue; the packet itself is not counted."""

    ts: float  # s
    tx_bytes: float
    queue: float  # bytes
    rate: float  # bit/s


@dataclass(frozen=True)
class Passed:
    """A packet that was not dropped."""

    wait: float  # s in the queue, without its own serialisation
    ce: bool
    stamp: Stamp


class Port:
    """Packets must be offered in the order of time."""

    def __init__(self, rate: float, buffer: float, red: tuple[float, float, float], rng: random.Random) -> None:
        self.rate, self.buffer, self.red, self.rng = rate, buffer, red, rng
        self.offered = 0.0  # bytes that joined the queue
        self.area = 0.0  # integral of the queue over time, byte-seconds
        self.dropped = 0  # packets
        self.marked = 0
        self._queue, self._at = 0.0, 0.0  # bytes at the time of the last change

    def advance(self, now: float) -> float:
        """Drain until ``now``. The queue then, in bytes."""
        drained = min(self._queue, (now - self._at) * self.rate / 8)
        self.area += (self._queue - drained / 2) * drained * 8 / self.rate
        self._queue, self._at = self._queue - drained, now
        return self._queue

    def offer(self, now: float, size: int) -> Passed | None:
        """A packet arrives; None if the buffer has no room for it."""
        queue = self.advance(now)
        if queue + size > self.buffer:
            self.dropped += 1
            return None
        ce = self.rng.random() < mark_share(queue, *self.red)
        self.marked += ce
        stamp = Stamp(now, self.offered - queue, queue, self.rate)
        self._queue += size
        self.offered += size
        return Passed(queue * 8 / self.rate, ce, stamp)


def int_stack(stamps: list[Stamp | None]) -> IntStack:
    """One hop per row, none where nothing was acknowledged; what lies beyond the hops is nan, and not to be read."""
    node = np.full((len(stamps), INT_WIDTH), -1)
    ts, tx_bytes, queue, rate = np.full((4, len(stamps), INT_WIDTH), np.nan)
    for row, stamp in enumerate(stamps):
        if stamp is not None:
            node[row, 0] = 1
            ts[row, 0], tx_bytes[row, 0], queue[row, 0], rate[row, 0] = (
                stamp.ts,
                stamp.tx_bytes,
                stamp.queue,
                stamp.rate,
            )
    hops = np.array([int(stamp is not None) for stamp in stamps])
    return IntStack(hops, node, ts, tx_bytes, queue, rate)
