"""The training's environment: bottlenecks side by side, a base RTT per step, flows decide once per RTT."""

from __future__ import annotations

from typing import Unpack

import numpy as np
from numpy.typing import NDArray

from testbed.base.arrays import Floats

from ..learned.bottlenecks import BUFFER, LEAST_WINDOW, PACKET, SUBSTEPS, WIDTH, Queues, SharedQueues
from .observation import HISTORY, MOST_WINDOW, SEEN, factors, observed
from .reward import Period


class Bottlenecks(SharedQueues):
    """The queues, and what flows see of them per period. Columns of flows have shape (m, WIDTH)."""

    def __init__(
        self,
        senders: tuple[int, ...],
        rng: np.random.Generator,
        *,
        episode: tuple[int, int] | None = None,
        **queues: Unpack[Queues],
    ) -> None:
        """``episode``: periods until a restart."""
        super().__init__(senders, rng, **queues)
        m = len(senders)
        self.episode = episode
        self.rtt = np.ones((m, WIDTH))
        self.told, self.lost_told = (np.zeros((m, WIDTH)) for _ in range(2))  # packets, BDP: what was measured
        self.thr = np.zeros((HISTORY, m, WIDTH))
        self.history = np.zeros((m, WIDTH, HISTORY * SEEN))
        self.fresh = np.ones((m, WIDTH), bool)  # nothing was measured yet
        self.waited = np.zeros((m, WIDTH))  # base RTTs since the last decision
        self.due: NDArray[np.bool_] = np.ones((m, WIDTH), bool)  # flows that decide: their period is over
        self.left = np.zeros(m, np.int64)  # periods until a restart
        self.restart(np.ones(m, bool))
        self.period = self._play()  # the last one

    def restart(self, which: NDArray[np.bool_]) -> None:
        """Empty these, with windows drawn anew."""
        super().restart(which)
        self.rtt[which] = 1.0
        for column in (self.waited, self.told, self.lost_told):
            column[which] = 0.0
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
        wait = np.mean([self.substep() for _ in range(SUBSTEPS)], axis=0)
        return self._measure(self.acked - before, np.broadcast_to(1.0 + wait[:, None], self.there.shape))

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
