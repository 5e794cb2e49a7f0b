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

from dataclasses import dataclass

import numpy as np

from testbed.base.arrays import Floats, Ints
from testbed.compiled.flows import CompiledFlows
from testbed.controller import RateController, Signal
from testbed.engines.fluid.core import Core, library
from testbed.engines.fluid.layout import FluidLayout
from testbed.engines.fluid.probes import Probes
from testbed.engines.fluid.queues import COUNTS, NEVER, Queues
from testbed.engines.fluid.told import CE, FLOW, MARKED_SHARE, PACKETS, SENT_BYTES, Told
from testbed.errors import UnusableDecision

LEAST_RATE = 1e-5  # of line rate: slower than this no flow is
MANY = 2**62  # steps


@dataclass(frozen=True)
class Options:
    """How the model is made. Times in seconds."""

    step: float = 0.5e-6
    probes: int = 1  # of a flow on the way at once
    decision_delay: float = 0.0  # between the return of a probe and the decision, with which the next one leaves
    red: tuple[float, float, float] = NEVER  # Kmin, Kmax (bytes), Pmax
    cnp_interval: float = 50e-6
    seed: int = 1


class Heard:
    """What flows have heard by their newest probes and were not told yet. Columns of shape (n,)."""

    def __init__(self, n: int, core: Core) -> None:
        self.core = core
        self.news = np.zeros(n, bool)
        self.covers, self.rtt, self.at = np.zeros((3, n))  # bytes, s, s at the queue
        self.counts = np.zeros((COUNTS, n))  # of the queue, then
        self.marked, self.passed = np.zeros((2, n))  # bytes, of all flows of the queue since this one was told
        core.point(heard_covers=self.covers, heard_rtt=self.rtt, heard_at=self.at, heard=self.counts)
        core.point(marked=self.marked, passed=self.passed, news=self.news)

    def begin(self, flows: Ints, counts: Floats | float) -> None:
        """These flows begin, and find the queue so."""
        self.counts[:, flows] = counts
        self.marked[flows] = self.passed[flows] = 0.0
        self.news[flows] = False
        self.core.news_count = int(np.count_nonzero(self.news))


class Fluid:
    """One model of one rack under one controller: `step` it."""

    def __init__(
        self, layout: FluidLayout, controller: RateController, options: Options, signals: Signal = Signal.RTT
    ) -> None:
        self.layout, self.options = layout, options
        self.controller = controller
        self._compiled = controller if isinstance(controller, CompiledFlows) else None
        self.rng = np.random.default_rng(options.seed)
        n, hosts = len(layout.host), len(np.unique(layout.host))
        self._core = core = Core(
            step=options.step, decision_delay=options.decision_delay, next_timer=np.inf, began=-1.0
        )
        core.flows, core.hosts = n, hosts if hosts < n else 0
        core.wire_size, core.line_rate = layout.wire_size, layout.line_rate
        self._library = library()
        self.queues = Queues(layout, core, options.red)
        self.probes = Probes(layout, options.probes, core)
        self.heard = Heard(n, core)
        self.starts = layout.start.copy()  # inf once it has started
        self.sending = np.zeros(n, bool)
        self.finished: Floats = np.full(n, np.nan)  # s
        self.sent, self.acked, self.lost = np.zeros((3, n))  # bytes
        self._told_sent, self._told_acked, self._told_lost = np.zeros((3, n))
        self.told = Told(n, layout.line_rate, core, with_int=Signal.INT in signals)
        self._hears_sent = Signal.TX in signals
        self._rate, self._window, self._timer = np.full((3, n), np.inf)  # as decided
        self._decided_at = np.zeros(n)  # `sent` when it last decided
        self._answered = np.zeros(n, bool)  # what it has sent since came back
        core.next_start = float(self.starts.min(initial=np.inf))
        core.least_rate = LEAST_RATE * layout.line_rate
        core.point(amount=np.zeros(n), limit=np.full(n, np.inf), size=layout.size)
        core.point(rate=self._rate, window=self._window, timer=self._timer)
        core.point(told_sent=self._told_sent, told_acked=self._told_acked, told_lost=self._told_lost)
        core.cnp_interval = options.cnp_interval
        core.point(last_cnp=np.full(n, -np.inf))
        core.point(sent=self.sent, acked=self.acked, lost=self.lost, finished=self.finished, sending=self.sending)
        core.point(sending_now=np.zeros(n), per_host=np.zeros(hosts), host=layout.host, queue=layout.queue)
        core.point(decided_at=self._decided_at, answered=self._answered)
        self.decisions = 0

    @property
    def now(self) -> float:
        """Seconds since the beginning."""
        return float(self._core.now)

    @property
    def queue(self) -> Floats:
        """Bytes in each queue, shape (m,)."""
        return self.queues.now

    def step(self) -> None:
        """Go on by one step: flows send, queues drain, probes see and return, the controller decides."""
        self._go_on(1, np.inf, 0, 0.0)

    def gather(self, until: float, enough: int, began: float) -> bool:
        """Go on until ``enough`` flows were answered (`answer`); the controller then hears all that came back.

        Or until half of them were, half of the time since ``began`` (s) ago: returns whether it is that late. It ends
        earlier for ``until`` (s), a start, a timer, the end of a flow.
        """
        self._go_on(MANY, until, enough, began)
        return bool(self._core.now >= 2 * self._core.half_at - began)

    def answer(self, flows: Ints) -> None:
        """What these flows send from now on will be an answer to what they have decided."""
        self._decided_at[flows] = self.sent[flows]
        self._answered[flows] = False
        self._core.answered_count = int(np.count_nonzero(self._answered))

    def _go_on(self, steps: int, until: float, enough: int, began: float) -> None:
        core = self._core
        if core.next_start <= core.now + core.step:
            self._start(core.now + core.step)
        self._library.advance(core.address, steps, until, enough, began)
        now = core.now
        if core.news_count > 0:
            self._tell(now)
            self.apply_decisions()
        if core.next_timer <= now:
            due = np.flatnonzero((self._timer <= now) & self.sending)
            if len(due):
                self.on_timer(now, due)
                self.answer(due)
            self.apply_decisions()

    def on_start(self, now: float, flows: Ints) -> None:
        """All calls of the controller are made here."""
        self.controller.on_start(now, flows)

    def on_sent(self, now: float, rows: int) -> None:
        """So many rows of `told` say who has sent, and what."""
        if self._compiled:
            self._compiled.tell("on_sent", now, self.told.at[FLOW], rows, self.told.at[SENT_BYTES])
        else:
            self.controller.on_sent(now, *self.told.ints[[FLOW, SENT_BYTES], :rows])

    def on_timer(self, now: float, flows: Ints) -> None:
        self.controller.on_timer(now, flows)

    def on_feedback(self, now: float, rows: int) -> None:
        """So many rows of `told` are feedback."""
        if self._compiled:
            self._compiled.hear(now, self.told.columns, rows)
        else:
            self.controller.on_feedback(now, *self.told.feedback(rows))

    def begin(self, flows: Ints, starts: Floats, size: Floats) -> None:
        """Start these flows anew, at ``starts`` (s), with so many wire bytes. Each occurs once, none is sending."""
        self.layout.size[flows] = size
        self.starts[flows] = starts
        self._core.next_start = float(self.starts.min())
        self.sending[flows] = False
        self.finished[flows] = np.nan
        self.probes.stop(flows)
        for column in (self.sent, self.acked, self.lost, self._told_sent, self._told_acked, self._told_lost):
            column[flows] = 0.0
        self.answer(flows)
        self.heard.begin(flows, 0.0)
        self.apply_decisions()

    def _start(self, now: float) -> None:
        flows = np.flatnonzero(self.starts <= now)
        self.sending[flows] = True
        self.probes.start(flows, self.starts[flows])
        self.starts[flows] = np.inf
        self._core.next_start = float(self.starts.min())
        self.heard.begin(flows, self.queues.counts[:, self.layout.queue[flows]])
        self.on_start(now, flows)
        self.apply_decisions()

    def apply_decisions(self) -> None:
        """Take over what the controller decided."""
        controller = self.controller
        self._rate[:], self._window[:], self._timer[:] = controller.rate, controller.window, controller.timer
        if (flow := self._library.take_over(self._core.address)) >= 0:  # nan is not positive
            raise UnusableDecision(
                controller.on_feedback,
                f"set rate {self._rate[flow]} bit/s and window {self._window[flow]} bytes for a flow; "
                "expected positive numbers",
            )

    def _tell(self, now: float) -> None:
        """The controller hears what was acknowledged and lost."""
        address = self._core.address
        rows = self._library.collect(address)
        if self._core.told_ce:  # such shares of the acknowledged packets carry CE
            ints, shares = self.told.ints, self.told.floats[MARKED_SHARE]
            ints[CE, :rows] = self.rng.binomial(ints[PACKETS, :rows], shares[:rows])
            self._library.notify(address, rows)
        if self._hears_sent:
            self.on_sent(now, rows)
        self.on_feedback(now, rows)
        self.decisions += rows
