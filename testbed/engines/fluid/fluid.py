"""The fluid model of a rack: rates are fluids, queues integrate them, probes carry what controllers hear.

Time goes in steps. What a flow sends reaches the queue of its destination half a base RTT later. Each flow keeps a few
probes on the way (one is what a NIC with RTT probes has; several stand for the stream of acknowledgements): a probe
sees the queue when it arrives there, comes back after the queue and the other half of the base RTT, and is then sent
again. All a flow had sent before the probe is acknowledged by its return, or lost, for paths are FIFO. Flows are
therefore asynchronous, and a decision is seen by the probe after the next only: this delay makes stability non-trivial.

What is not in it: probes are never lost, so there are no timeouts, and what was lost is only sent again; windows are
not rounded to packets; acknowledgements have no queue on their way back.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from testbed.base.arrays import Floats, Ints
from testbed.controller import Feedback, IntStack, RateController, Signal
from testbed.engines.fluid.layout import FluidLayout
from testbed.engines.fluid.probes import Probes
from testbed.engines.fluid.queues import ARRIVED, DROPPED, LEFT, MARKED, NEVER, QUEUE, Queues
from testbed.errors import UnusableDecision

TOLD = [ARRIVED, MARKED, DROPPED]  # what counts is the growth from one probe to the next
LEAST_RATE = 1e-5  # of line rate: slower than this no flow is


@dataclass(frozen=True)
class Options:
    """How the model is made. Times in seconds."""

    step: float = 0.5e-6
    probes: int = 1  # of a flow on the way at once
    burst: float = 0.0  # bytes: whole bursts leave when there is credit for them; 0 is a fluid
    decision_delay: float = 0.0  # between the return of a probe and the decision, with which the next one leaves
    jitter: float = 0.0  # a measured RTT is up to this much too long
    red: tuple[float, float, float] = NEVER  # Kmin, Kmax (bytes), Pmax
    cnp_interval: float = 50e-6
    seed: int = 1


class Fluid:
    """One model of one rack under one controller: `step` it."""

    def __init__(
        self, layout: FluidLayout, make: Callable[[], RateController], options: Options, signals: Signal = Signal.RTT
    ) -> None:
        self.layout, self.options, self.signals = layout, options, signals
        self.controller = make()
        self.rng = np.random.default_rng(options.seed)
        n = len(layout.host)
        self.now = 0.0
        self.queues = Queues(layout, options.step, options.red)
        self.probes = Probes(layout, options.probes)
        self.starts = layout.start.copy()  # inf once it has started
        self._next_start = float(self.starts.min(initial=np.inf))
        self.sending = np.zeros(n, bool)
        self.finished: Floats = np.full(n, np.nan)  # s
        self.sent = np.zeros(n)  # bytes
        self.acked = np.zeros(n)
        self.lost = np.zeros(n)
        self._told_sent = np.zeros(n)
        self._told = np.zeros((len(TOLD), n))
        self._last_cnp = np.full(n, -np.inf)
        self._credit = self.rng.uniform(0, options.burst, n) if options.burst else np.zeros(n)
        self._shared_hosts = len(np.unique(layout.host)) < n
        self._amount = np.zeros(n)  # bytes that a flow may send in a step
        self._limit: Floats | None = None  # up to where its window or its size lets it send
        self.decisions = 0

    @property
    def queue(self) -> Floats:
        """Bytes in each queue, shape (m,)."""
        return self.queues.now

    def step(self) -> None:
        """Go on by one step: flows send, queues drain, probes see and return, the controller decides."""
        self.now = now = self.now + self.options.step
        if self._next_start <= now:
            self._start(now)
        self._send()
        self.queues.drain()
        decided = self.probes.next <= now and self._probe(now)
        timers = self.controller.timer <= now
        if timers.any() and len(due := np.flatnonzero(timers & self.sending)):
            self.on_timer(now, due)
            decided = True
        if decided:
            self.apply_decisions()

    def on_start(self, now: float, flows: Ints) -> None:
        """All calls of the controller are made here."""
        self.controller.on_start(now, flows)

    def on_sent(self, now: float, flows: Ints, sent_bytes: Ints) -> None:
        self.controller.on_sent(now, flows, sent_bytes)

    def on_timer(self, now: float, flows: Ints) -> None:
        self.controller.on_timer(now, flows)

    def on_feedback(self, now: float, flows: Ints, feedback: Feedback) -> None:
        self.controller.on_feedback(now, flows, feedback)

    def restart(self, queues: Ints, starts: Floats) -> None:
        """Empty some queues and start all of their flows again, at ``starts`` (s, one per flow of the model)."""
        flows = np.flatnonzero(np.isin(self.layout.queue, queues))
        self.begin(flows, starts[flows], self.layout.size[flows])
        self._told[:, flows] = 0.0
        self.queues.empty(queues)

    def begin(self, flows: Ints, starts: Floats, size: Floats) -> None:
        """Start these flows anew, at ``starts`` (s), with so many wire bytes. Each occurs once, none is sending."""
        self.layout.size[flows] = size
        self.starts[flows] = starts
        self._next_start = float(self.starts.min())
        self.sending[flows] = False
        self.finished[flows] = np.nan
        self.probes.stop(flows)
        for column in (self.sent, self.acked, self.lost, self._told_sent):
            column[flows] = 0.0
        self.apply_decisions()

    def _start(self, now: float) -> None:
        flows = np.flatnonzero(self.starts <= now)
        self.sending[flows] = True
        self.probes.start(flows, self.starts[flows])
        self.starts[flows] = np.inf
        self._next_start = float(self.starts.min())
        self._told[:, flows] = self.queues.counts[:, self.layout.queue[flows]][TOLD]
        self.on_start(now, flows)
        self.apply_decisions()

    def apply_decisions(self) -> None:
        """Take over what the controller decided."""
        layout, rate, window = self.layout, self.controller.rate, self.controller.window
        if not (rate.min() > 0 and window.min() > 0):  # nan is neither
            flow = int(np.flatnonzero(~((rate > 0) & (window > 0)))[0])
            raise UnusableDecision(
                self.controller.on_feedback,
                f"set rate {rate[flow]} bit/s and window {window[flow]} bytes for a flow; expected positive numbers",
            )
        rate = np.minimum(np.maximum(rate, LEAST_RATE * layout.line_rate), layout.line_rate)
        self._amount = rate * self.sending * (self.options.step / 8)
        # A window below one packet lets one through at least: so it is in the rack.
        allowed = np.minimum(np.maximum(window, layout.wire_size) + self.acked, layout.size)
        self._limit = allowed + self.lost if allowed.min() < np.inf else None

    def _send(self) -> None:
        amount = self._amount
        if self._limit is not None:
            amount = np.minimum(amount, np.maximum(self._limit - self.sent, 0.0))
        if self._shared_hosts:
            per_host = np.bincount(self.layout.host, amount)
            amount = amount * (self.queues.per_step / np.maximum(per_host, self.queues.per_step))[self.layout.host]
        if self.options.burst:
            self._credit += amount
            amount = np.floor(self._credit / self.options.burst) * self.options.burst
            self._credit -= amount
        self.sent += amount
        self.queues.enter(amount)

    def _probe(self, now: float) -> bool:
        """Whether the controller has decided."""
        leaving, there, back = self.probes.arrived(now)
        if len(leaving):
            self.probes.leave(leaving, self.sent)
        if len(there):
            jitter = self.options.jitter
            noise = self.rng.uniform(0.0, jitter, len(there)) if jitter else 0.0
            self.probes.see(there, now, self.queues, self.options.decision_delay, noise)
        if len(back):
            self._decide(now, self.probes.newest(back))
            self.probes.leave(back, self.sent)  # the next one leaves with the decision
            done = self.probes.flow[back][~self.sending[self.probes.flow[back]]]
            if len(done):
                self.probes.stop(done)
        self.probes.next = float(self.probes.due.min())
        return len(back) > 0

    def _decide(self, now: float, probes: Ints) -> None:
        """Everything that was sent before the probe is acknowledged now, or lost."""
        flows = self.probes.flow[probes]
        seen = self.probes.seen[:, probes]
        told = seen[TOLD]
        arrived, marked, dropped = told - self._told[:, flows]
        self._told[:, flows] = told
        acked, lost, sent = self.acked[flows], self.lost[flows], self.sent[flows]
        covers = self.probes.covers[probes]
        fresh = np.maximum(covers - acked - lost, 0.0)
        losing = fresh * share(dropped, arrived)
        self.acked[flows] = now_acked = acked + fresh - losing
        self.lost[flows] = now_lost = lost + losing
        wire = self.layout.wire_size
        amounts = np.array((acked, now_acked, lost, now_lost, covers, sent, self._told_sent[flows])) / wire
        acked_before, acked_now, lost_before, lost_now, covered, following, told_sent = amounts.astype(np.int64)
        packets = acked_now - acked_before
        marks, cnps = self._marks(now, flows, packets, share(marked, arrived - dropped))
        if Signal.TX in self.signals:
            self.on_sent(now, flows, (following - told_sent) * wire)
            self._told_sent[flows] = sent
        feedback = Feedback(
            acked_packets=packets,
            acked_bytes=packets * wire,
            acked_seq=covered - 1,
            next_seq=following,
            inflight=(sent - now_acked - now_lost).astype(np.int64),
            rtt=self.probes.rtt[probes],
            ce_packets=marks,
            cnps=cnps,
            lost_packets=lost_now - lost_before,
            timeouts=np.zeros(len(flows), np.int64),
            int_stack=self._int_stack(flows, seen, self.probes.at[probes]) if Signal.INT in self.signals else None,
        )
        self.on_feedback(now, flows, feedback)
        self.decisions += len(flows)
        done = flows[now_acked > self.layout.size[flows] - wire / 2]
        self.sending[done] = False
        self.finished[done] = now

    def _marks(self, now: float, flows: Ints, packets: Ints, marked: Floats) -> tuple[Ints, Ints]:
        """How many acknowledged packets carry CE, and how many CNPs came of it."""
        if not marked.any():
            none = np.zeros(len(flows), np.int64)
            return none, none
        marks = self.rng.binomial(packets, marked)
        cnps = (marks > 0) & (now - self._last_cnp[flows] >= self.options.cnp_interval)
        self._last_cnp[flows[cnps]] = now
        return marks, cnps.astype(np.int64)

    def _int_stack(self, flows: Ints, seen: Floats, at: Floats) -> IntStack:
        k = len(flows)
        return IntStack(
            hops=np.ones(k, np.int64),
            node=(self.layout.queue[flows] + 1)[:, None],
            ts=at[:, None],
            tx_bytes=seen[LEFT][:, None],
            queue=seen[QUEUE][:, None],
            rate=np.full((k, 1), self.layout.line_rate),
        )


def share(part: Floats, whole: Floats) -> Floats:
    """Of what arrived, from 0 to 1; 0 of nothing."""
    return np.minimum(np.maximum(part, 0.0) / np.maximum(whole, 1e-9), 1.0)
