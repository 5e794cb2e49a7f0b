"""The training's environment: executors on the shared queues of `testbed_controllers.learned.bottlenecks`.

A step is a monitoring interval of ten base RTTs; every substep moves the windows by what was acknowledged. Flows that
no acknowledgement reached go on with their interval.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Unpack

import numpy as np
from numpy.typing import NDArray

from testbed.base.arrays import Floats

from ..learned.bottlenecks import LEAST_WINDOW, PACKET, SUBSTEPS, WIDTH, Queues, SharedQueues
from .executor import MOST_DOWN, MOST_UP, ExecutorConfig
from .observation import INTERVAL, SEEN, parameters, places, seen


@dataclass(frozen=True)
class Interval:
    """What an interval of m bottlenecks gave; shapes (m,)."""

    thr: Floats  # share of the line rate
    inflation: Floats  # mean RTT over base RTT
    loss: Floats  # lost over delivered

    @property
    def value(self) -> Floats:
        """The reward without the cost of triggers: throughput over latency, minus loss."""
        return self.thr / self.inflation - self.loss


class Bottlenecks(SharedQueues):
    """Columns of flows have shape (m, WIDTH)."""

    def __init__(
        self,
        senders: tuple[int, ...],
        rng: np.random.Generator,
        *,
        config: ExecutorConfig | None = None,
        **queues: Unpack[Queues],
    ) -> None:
        """``config`` has the parameters of the first interval."""
        super().__init__(senders, rng, **queues)
        flows = (len(senders), WIDTH)
        first = np.array(places(config or ExecutorConfig()))
        self.places: Floats = np.tile(first, (*flows, 1))  # of the parameters, shape (m, WIDTH, 4)
        self.rtt, self.cut = np.ones(flows), np.full(flows, -np.inf)
        self.told, self.lost_told = np.zeros(flows), np.zeros(flows)  # packets, BDP: the executors know
        self.packets, self.rtts, self.losses, self.waited = (np.zeros(flows) for _ in range(4))
        self.seen = np.zeros((*flows, SEEN))
        self.due: NDArray[np.bool_] = np.zeros(flows, bool)  # flows whose interval is over
        self.delivered = np.zeros(flows)  # of each flow in the last interval, as a share of the line rate
        self.restart(np.ones(len(senders), bool))

    def step(self) -> Interval:
        """Play an interval by ``places``; ``seen`` is then what flows that are ``due`` have seen of it."""
        low, high, knee, cut = np.moveaxis(parameters(self.places), -1, 0)
        begun = self.acked.copy()
        thr = inflation = loss = np.zeros(len(self.senders))
        steps = round(INTERVAL * SUBSTEPS)
        for _ in range(steps):
            before, lost = self.acked.copy(), self.lost.copy()
            wait = self.substep()
            self._execute(1.0 + wait[:, None], low, high, knee, cut)
            came, gone = (self._total(one) for one in (self.acked - before, self.lost - lost))
            thr, inflation, loss = thr + came, inflation + 1.0 + wait, loss + gone
        self.delivered = (self.acked - begun) / INTERVAL
        self._measure()
        return Interval(thr / INTERVAL, inflation / steps, np.minimum(loss / np.maximum(thr, PACKET), 1.0))

    def leave(self, which: NDArray[np.bool_]) -> None:
        """Every second flow of these stops."""
        self.there[np.ix_(which, np.arange(WIDTH) % 2 == 1)] = 0.0

    def _total(self, column: Floats) -> Floats:
        return np.asarray((column * self.each).sum(axis=1))

    def _execute(self, inflation: Floats, alpha: Floats, beta: Floats, gamma: Floats, delta: Floats) -> None:
        """As `executor`, of whole packets."""
        whole = np.floor(self.acked / PACKET)
        packets = whole - self.told
        self.told = whole
        self.rtt = np.where(packets > 0, inflation, self.rtt)
        change = np.where(self.rtt - 1.0 <= gamma, alpha, -beta)
        most = np.minimum(self.window / PACKET, 1.0)
        change = np.clip(change, -MOST_DOWN * most, MOST_UP * most)
        self.window = self.window + PACKET * packets * change
        losing = (self.lost - self.lost_told >= PACKET) & (self.now / SUBSTEPS - self.cut >= self.rtt)
        self.losses += np.where(losing, self.lost - self.lost_told, 0.0)
        self.lost_told = np.where(losing, self.lost, self.lost_told)
        self.cut = np.where(losing, self.now / SUBSTEPS, self.cut)
        self.window = np.clip(np.where(losing, self.window * delta, self.window), LEAST_WINDOW, 1.0 + gamma)
        self.rate = np.minimum(self.window / self.rtt, 1.0)
        self.packets += packets
        self.rtts += packets * inflation

    def _measure(self) -> None:
        self.waited += INTERVAL
        self.due = (self.packets >= 1) & (self.there > 0)
        packets = np.maximum(self.packets, 1.0)
        loss = self.losses / (packets * PACKET)
        fresh = seen(packets * PACKET / self.waited, self.rtts / packets, loss, self.window, self.places)
        self.seen = np.where(self.due[..., None], fresh, self.seen)
        for column in (self.packets, self.rtts, self.losses, self.waited):
            column[self.due] = 0.0
