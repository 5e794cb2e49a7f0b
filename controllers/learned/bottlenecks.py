"""Bottlenecks side by side, for training: the queues; whoever trains adds when and how flows decide.

A fluid model like `testbed.engines.fluid`, coarser and vectorised over bottlenecks: 8 substeps per base RTT, rates
reach the queue half a base RTT later, what they meet there comes back the wait and another half later. Units are the
path's: base RTT, line rate, BDP. A bottleneck of more than `WIDTH` flows has `WIDTH` that stand for
several alike each.
"""

from __future__ import annotations

from typing import TypedDict, Unpack

import numpy as np
from numpy.typing import NDArray

from testbed.base.arrays import Floats

WIDTH = 16
START = (0.01, 1.5)
SUBSTEPS = 8
HALF = SUBSTEPS // 2
RING = 128  # substeps that are kept: older queues are not seen
PACKET = 1078 / 102_400  # of a BDP at 100 Gbit/s and 8.192 us
BUFFER, SMALL_BUFFER = 48.0, 2.0  # BDP; small ones, so that losses are seen
SMALL = 4  # every so many bottlenecks have one
LEAST_WINDOW = PACKET / 64


class Queues(TypedDict, total=False):
    """How they begin."""

    start: tuple[float, float]  # windows in BDP, log-uniform, for up to `WIDTH` flows; by default 0.01 to 1.5
    small_buffers: bool  # every fourth has one; the default


class SharedQueues:
    """``senders`` has the flows of each, shape (m,). Columns of flows have shape (m, WIDTH)."""

    def __init__(self, senders: tuple[int, ...], rng: np.random.Generator, **queues: Unpack[Queues]) -> None:
        """Call `restart` before the first substep."""
        m = len(senders)
        self.rng, self.start = rng, queues.get("start", START)
        self.senders = np.array(senders, float)
        here = np.minimum(self.senders, WIDTH)
        self.each: Floats = (self.senders / here)[:, None]
        self.there: Floats = (np.arange(WIDTH) < here[:, None]).astype(float)
        self.buffer = np.full(m, BUFFER)
        if queues.get("small_buffers", True):
            self.buffer[::SMALL] = SMALL_BUFFER
        self.window, self.rate = (np.ones((m, WIDTH)) for _ in range(2))
        self.inflight, self.queued, self.acked, self.lost = (np.zeros((m, WIDTH)) for _ in range(4))
        self.sent_ring, self.acked_ring, self.lost_ring = (np.zeros((RING, m, WIDTH)) for _ in range(3))
        self.queues = np.zeros((RING, m))
        self.now = 0  # substeps

    def restart(self, which: NDArray[np.bool_]) -> None:
        """Empty these, with windows drawn anew."""
        low, high = np.log(self.start[0]), np.log(self.start[1])
        drawn = np.exp(self.rng.uniform(low, high, self.window.shape)) / np.sqrt(self.each)
        self.window[which] = drawn[which]
        self.rate[which] = np.minimum(drawn[which], 1.0)
        for column in (self.inflight, self.queued, self.lost):
            column[which] = 0.0
        self.acked[which] = (self.rng.uniform(0, PACKET, self.acked.shape))[which]  # where it is in a packet
        for ring in (self.sent_ring, self.acked_ring, self.lost_ring, self.queues):
            ring[:, which] = 0.0

    def substep(self) -> Floats:
        """Go on by an eighth of a base RTT; returns the wait that is heard of, in base RTTs, shape (m,)."""
        now = self.now % RING
        sent = np.minimum(self.rate / SUBSTEPS, np.maximum(self.window - self.inflight, 0.0)) * self.there
        self.inflight += sent
        self.sent_ring[now] = sent
        arriving = self.sent_ring[(now - HALF) % RING]
        self.queued += arriving
        total = (self.queued * self.each).sum(axis=1)
        over = np.maximum(total - 1.0 / SUBSTEPS - self.buffer, 0.0)
        came = (arriving * self.each).sum(axis=1)
        dropped = arriving * np.minimum(over / np.maximum(came, 1e-12), 1.0)[:, None]
        self.queued -= dropped
        total = np.maximum(total - over, 0.0)
        leaving = self.queued * np.minimum(1.0 / SUBSTEPS / np.maximum(total, 1e-12), 1.0)[:, None]
        self.queued -= leaving
        self.acked_ring[now], self.lost_ring[now] = leaving, dropped
        self.queues[now] = np.maximum(total - 1.0 / SUBSTEPS, 0.0)
        back = (now - HALF) % RING
        acked, lost = self.acked_ring[back], self.lost_ring[back]
        self.acked += acked
        self.lost += lost
        self.inflight = np.maximum(self.inflight - acked - lost, 0.0)
        self.now += 1
        late = np.minimum(np.rint(self.queues[back] * SUBSTEPS).astype(int), RING - HALF - 1)
        return np.asarray(self.queues[(back - late) % RING, np.arange(len(late))])
