"""The training's environment: bottlenecks side by side, a base RTT per step, flows decide once per RTT.

A fluid model like `testbed.engines.fluid`, coarser and vectorised over bottlenecks: 8 substeps per base RTT, rates
reach the queue half a base RTT later, what they meet there comes back the wait and another half later. Units are the
path's: base RTT, line rate, BDP. A bottleneck of more than `WIDTH` flows has `WIDTH` that stand for
several alike each.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from testbed.base.arrays import Floats

from .observation import HISTORY, MOST_WINDOW, SEEN, factors, observed
from .reward import Period

WIDTH = 16
SUBSTEPS = 8
HALF = SUBSTEPS // 2
RING = 128  # substeps that are kept: older queues are not seen
PACKET = 1078 / 102_400  # of a BDP at 100 Gbit/s and 8.192 us
BUFFER, SMALL_BUFFER = 48.0, 2.0  # BDP; small ones, so that losses are seen
SMALL = 4  # every so many bottlenecks have one
LEAST_WINDOW = PACKET / 64


class Bottlenecks:
    """``senders`` has the flows of each, shape (m,). Columns of flows have shape (m, WIDTH)."""

    def __init__(
        self,
        senders: tuple[int, ...],
        rng: np.random.Generator,
        *,
        start: tuple[float, float] = (0.01, 1.5),
        episode: tuple[int, int] | None = None,
        small_buffers: bool = True,
    ) -> None:
        """``start``: windows in BDP, log-uniform, for up to `WIDTH` flows. ``episode``: periods until a restart."""
        m = len(senders)
        self.rng, self.start, self.episode = rng, start, episode
        self.senders = np.array(senders, float)
        here = np.minimum(self.senders, WIDTH)
        self.each: Floats = (self.senders / here)[:, None]
        self.there: Floats = (np.arange(WIDTH) < here[:, None]).astype(float)
        self.buffer = np.full(m, BUFFER)
        if small_buffers:
            self.buffer[::SMALL] = SMALL_BUFFER
        self.window, self.rate, self.rtt = (np.ones((m, WIDTH)) for _ in range(3))
        self.inflight, self.queued, self.acked, self.lost = (np.zeros((m, WIDTH)) for _ in range(4))
        self.told, self.lost_told = (np.zeros((m, WIDTH)) for _ in range(2))  # packets, BDP: what was measured
        self.sent_ring, self.acked_ring, self.lost_ring = (np.zeros((RING, m, WIDTH)) for _ in range(3))
        self.queues = np.zeros((RING, m))
        self.thr = np.zeros((HISTORY, m, WIDTH))
        self.history = np.zeros((m, WIDTH, HISTORY * SEEN))
        self.fresh = np.ones((m, WIDTH), bool)  # nothing was measured yet
        self.waited = np.zeros((m, WIDTH))  # base RTTs since the last decision
        self.due: NDArray[np.bool_] = np.ones((m, WIDTH), bool)  # flows that decide: their period is over
        self.left = np.zeros(m, np.int64)  # periods until a restart
        self.substep = 0
        self.restart(np.ones(m, bool))
        self.period = self._play()  # the last one

    def restart(self, which: NDArray[np.bool_]) -> None:
        """Empty these, with windows drawn anew."""
        low, high = np.log(self.start[0]), np.log(self.start[1])
        drawn = np.exp(self.rng.uniform(low, high, self.window.shape)) / np.sqrt(self.each)
        self.window[which] = drawn[which]
        self.rate[which] = np.minimum(drawn[which], 1.0)
        self.rtt[which] = 1.0
        for column in (self.inflight, self.queued, self.lost, self.waited, self.told, self.lost_told):
            column[which] = 0.0
        self.acked[which] = (self.rng.uniform(0, PACKET, self.acked.shape))[which]  # where it is in a packet
        for ring in (self.sent_ring, self.acked_ring, self.lost_ring, self.queues):
            ring[:, which] = 0.0
        self.thr[:, which] = 0.0
        self.fresh[which], self.due[which] = True, False
        if self.episode:
            self.left[which] = self.rng.integers(*self.episode, which.sum())

    def step(self, action: Floats) -> Period:
        """Decide and play one period; ``history`` is then the next state."""
        moved = np.where(self.due, factors(action), 1.0)
        self.window = np.clip(self.window * moved, LEAST_WINDOW, MOST_WINDOW)
        self.rate = np.minimum(self.window / self.rtt, 1.0)
        self.period = self._play()
        return self.period

    def restart_due(self) -> NDArray[np.bool_]:
        """Restart bottlenecks whose episode is over; which those are."""
        self.left -= 1
        over = self.left <= 0
        if over.any():
            self.restart(over)
        return over

    def _play(self) -> Period:
        before = self.acked.copy()
        wait = np.mean([self._substep() for _ in range(SUBSTEPS)], axis=0)
        return self._measure(self.acked - before, np.broadcast_to(1.0 + wait[:, None], self.there.shape))

    def _substep(self) -> Floats:
        """Go on by an eighth of a base RTT; returns the wait that is heard of, in base RTTs, shape (m,)."""
        now = self.substep % RING
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
        self.substep += 1
        late = np.minimum(np.rint(self.queues[back] * SUBSTEPS).astype(int), RING - HALF - 1)
        return np.asarray(self.queues[(back - late) % RING, np.arange(len(late))])

    def _measure(self, acked: Floats, inflation: Floats) -> Period:
        """What the flows see of the last RTT, in whole packets; those that saw none wait."""
        self.thr = np.concatenate((self.thr[1:], acked[None]))
        self.waited += 1
        whole = np.floor(self.acked / PACKET)
        packets = whole - self.told
        self.due = due = (packets >= 1) & (self.there > 0) & (self.waited >= np.rint(inflation))
        loss = np.minimum((self.lost - self.lost_told) / np.maximum(packets * PACKET, PACKET), 1.0)
        self.rtt = np.where(due, self.rtt + (inflation - self.rtt) / 2, self.rtt)
        seen = observed(packets * PACKET / self.waited, inflation, loss, self.window, self.rate)
        shifted = np.concatenate((self.history[..., SEEN:], seen), axis=-1)
        first = due & self.fresh
        shifted[first] = np.tile(seen[first], HISTORY)
        self.thr[:, first] = acked[first]
        self.history = np.where(due[..., None], shifted, self.history)
        self.told, self.lost_told = np.where(due, whole, self.told), np.where(due, self.lost, self.lost_told)
        self.waited = np.where(due, 0.0, self.waited)
        self.fresh &= ~due
        return Period(self.thr, inflation, loss, self.there, self.each)

    def shared_state(self, period: Period) -> Floats:
        """The critic's global state (the paper's 12 numbers), shape (m, 12)."""
        there, n = self.there > 0, self.senders
        thr = period.thr[-1]
        least = [np.where(there, one, np.inf).min(axis=1) for one in (thr, self.window)]
        most = [np.where(there, one, 0.0).max(axis=1) for one in (thr, self.window)]
        total = (thr * self.each).sum(axis=1)
        queue = (self.queued * self.each).sum(axis=1)
        ones = np.ones(len(n))
        return np.column_stack((
            total, np.minimum(n * least[0], 4), np.minimum(n * most[0], 8), np.sqrt(np.minimum(queue, 9)),
            np.minimum(n * least[1], 4), np.minimum(n * most[1], 8), np.minimum(n * period.mean(self.window), 8),
            period.mean(period.loss), np.log2(n) / 4, ones, self.buffer / BUFFER, ones,
        ))  # fmt: skip
