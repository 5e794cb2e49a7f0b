"""The probes of the fluid model: each is to be sent, on its way to the queue, or on its way back."""

from __future__ import annotations

import numpy as np

from testbed.base.arrays import Floats, Ints
from testbed.engines.fluid.layout import FluidLayout
from testbed.engines.fluid.queues import QUEUE, Queues

TO_SEND, TO_QUEUE, BACK = range(3)


class Probes:
    """``each`` probes of every flow, in columns of shape (n * each,), a flow's next to each other."""

    def __init__(self, layout: FluidLayout, each: int) -> None:
        n = len(layout.host)
        self.each = each
        self.flow = np.repeat(np.arange(n), each)
        self.due: Floats = np.full(n * each, np.inf)
        self.next = np.inf  # the earliest of them: most steps of a small model have nothing to do
        self._phase = np.zeros(n * each, np.int8)
        self._base = layout.base_rtt[self.flow]
        self._queue = layout.queue[self.flow]
        self._line_rate = layout.line_rate
        self.covers = np.zeros(n * each)  # bytes that its flow had sent before it
        self.rtt = np.zeros(n * each)  # s
        self.at = np.zeros(n * each)  # s: when it was at the queue
        self.seen = np.zeros((5, n * each))  # `Queues.counts` then

    def start(self, flows: Ints, at: Floats) -> None:
        """The first ones leave at ``at`` (s), the others evenly spread over a base RTT."""
        mine = self.of(flows)
        self.due[mine] = at[:, None] + self._base[mine] / self.each * np.arange(self.each)
        self._phase[mine] = TO_SEND
        self.next = float(self.due.min())

    def stop(self, flows: Ints) -> None:
        """These flows have no probes any more."""
        self.due[self.of(flows)] = np.inf

    def of(self, flows: Ints) -> Ints:
        """Their probes, shape (k, each)."""
        return np.asarray(flows[:, None] * self.each + np.arange(self.each))

    def arrived(self, now: float) -> tuple[Ints, Ints, Ints]:
        """Numbers of the probes whose time has come: to be sent, at the queue, back."""
        due = np.flatnonzero(self.due <= now)
        phase = self._phase[due]
        return due[phase == TO_SEND], due[phase == TO_QUEUE], due[phase == BACK]

    def leave(self, probes: Ints, sent: Floats) -> None:
        """They leave for the queue; their flows have sent so much before."""
        self.covers[probes] = sent[self.flow[probes]]
        self._phase[probes] = TO_QUEUE
        self.due[probes] += self._base[probes] / 2

    def see(self, probes: Ints, now: float, queues: Queues, held: float, noise: Floats | float = 0.0) -> None:
        """They are at the queue: what they see, and when they will be back, ``held`` seconds late."""
        seen = queues.counts[:, self._queue[probes]]
        self.seen[:, probes] = seen
        self.at[probes] = now
        wait = seen[QUEUE] * 8 / self._line_rate
        base = self._base[probes]
        self.rtt[probes] = base + wait + noise
        self.due[probes] += wait + (base / 2 + held)
        self._phase[probes] = BACK

    def newest(self, probes: Ints) -> Ints:
        """Of several of one flow, the one that left last; in the order of flows."""
        flows = self.flow[probes]
        if self.each == 1 or len(probes) == 1 or (np.diff(flows) > 0).all():
            return probes
        order = np.lexsort((self.covers[probes], flows))
        last = np.append(np.diff(flows[order]) > 0, True)
        return np.asarray(probes[order][last])
