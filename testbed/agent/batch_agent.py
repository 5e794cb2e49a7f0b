"""An agent whose controller decides in batches, in Python."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from testbed.agent.agent import Agent, Timing
from testbed.agent.answers import Answers
from testbed.agent.columns import Flows
from testbed.agent.datapath import Datapath
from testbed.agent.meter import Meter
from testbed.base.arrays import Ints
from testbed.clock import Clock
from testbed.controller import Feedback, RateController, Signal
from testbed.errors import UnusableDecision
from testbed.registry import Blaming, Plugin, failed, refused
from testbed.results.trace import FEEDBACK, SENT, START, TIMEOUT, TIMER, feedback_row


class BatchAgent(Agent):
    """Calls the controller with columns of all flows that have something to say."""

    def __init__(
        self,
        plugin: Plugin,
        clock: Clock,
        controller: RateController,
        datapath: Datapath,
        *,
        timing: Timing,
        meter: Meter,
    ) -> None:
        super().__init__(plugin, clock, datapath, timing=timing, meter=meter)
        self.controller = controller
        self._wants_int, self._wants_sent = Signal.INT in controller.signals, Signal.TX in controller.signals
        self._trace = meter.trace
        self._steps = 0
        self._decisions = meter.decisions.data
        self._seconds = meter.decision_seconds.data.cast("B").cast("d")
        self._next_report = 0.0
        self._next_timer = np.inf
        self._called: Callable[..., None] = controller.on_start  # last

    @property
    def steps(self) -> int:
        return self._steps

    def _start(self, now: float, flows: Ints) -> None:
        self._trace.record(START, now, len(flows), flows)
        self._call(self.controller.on_start, now, flows)
        self.datapath.started[flows] = 1
        self.apply(flows, now)

    @property
    def next_step(self) -> float:
        return min(super().next_step, self.datapath.next_start())

    def decide(self, now: float) -> None:
        if self.datapath.next_start() <= now:
            self._start(now, np.sort(self.datapath.due_starts(now)))
        self._steps += 1
        if self._wants_sent and now >= self._next_report:
            self._report_sent(now)
        if self.datapath.next_due() <= now:
            self._hear(now, self.datapath.read_feedback(now, self._wants_int))
        if self._next_timer <= now:
            due = np.sort(self.datapath.due_timers(now))
            self._trace.record(TIMER, now, len(due), due)
            self._call(self.controller.on_timer, now, due)
            self.apply(due, now)

    def time_out(self, now: float, flows: Ints, packets: Ints) -> None:
        feedback = timeout_feedback(self.flows, flows, packets, self.datapath.expected)
        self._trace.record(TIMEOUT, now, len(flows), feedback_row(flows, feedback))
        self._feed(now, flows, feedback)

    def wait(self, now: float, until: float) -> None:
        self.datapath.send_until(min(self.next_decision(now), until))

    def gather(self, answers: Answers, until: float, enough: int, began: float) -> None:
        """As `Datapath.gather`; the controller hears what came back."""
        batch = self.datapath.gather(answers, until, enough, began, self._wants_int)
        self._hear(self.clock.now(), batch)

    def _hear(self, now: float, batch: tuple[Ints, Feedback] | None) -> None:
        if batch is not None:
            self._trace.record(FEEDBACK, now, len(batch[0]), self.datapath.rows.taken, batch[1].int_stack)
            self._feed(now, *batch)

    def next_decision(self, now: float) -> float:
        """When to decide again. Feedback and timers are gathered for a moment: several cost little more than one."""
        soonest = max(min(self.datapath.next_due(), self._next_timer), now) + self.timing.gather
        return min(soonest, now + self.timing.longest_sleep)

    def _feed(self, now: float, flows: Ints, feedback: Feedback) -> None:
        began = time.perf_counter()
        self._call(self.controller.on_feedback, now, flows, feedback)
        seconds = time.perf_counter() - began
        self._decisions[0] += 1
        self._decisions[1] += len(flows)
        self._seconds[0] += seconds
        self.meter.decision_times.add(seconds)
        self.apply(flows, now)

    def _call(self, callback: Callable[..., None], *arguments: object) -> None:
        self._called = callback
        with Blaming(self.plugin):
            callback(*arguments)

    def apply(self, flows: Ints, now: float) -> None:
        """Apply what the controller decided; refuse what cannot be a rate or a window."""
        try:
            wrong, self._next_timer = self.datapath.apply_decisions(flows, self.controller, now, self._trace.copy_to)
        except (AttributeError, TypeError) as error:
            why = f"self.rate, window and timer must stay arrays, one number per flow: {error}"
            raise refused(self.plugin, self._called, why) from error
        if wrong >= 0:
            one = self.controller
            decided = one.rate[wrong], one.window[wrong], one.timer[wrong]
            raise failed(self.plugin, UnusableDecision.of(self._called, *decided))
        self._trace.done()

    def _report_sent(self, now: float) -> None:
        """Byte counters are slow clocks: reporting every packet would cost more than sending it."""
        self._next_report = now + self.timing.longest_sleep
        flows, packets = self.datapath.report_sent()
        if not len(flows):
            return
        sent = packets * self.controller.paths.wire_size
        self._trace.record(SENT, now, len(flows), np.concatenate((flows, sent)))
        self._call(self.controller.on_sent, now, flows, sent)
        self.apply(flows, now)


def timeout_feedback(flows: Flows, silent: Ints, packets: Ints, expected: Ints) -> Feedback:
    """The feedback when the retransmission timeout fires: so many packets of each flow count as lost."""
    none = np.zeros(len(silent), np.int64)
    return Feedback(
        acked_packets=none,
        acked_bytes=none,
        acked_seq=expected[silent] - 1,
        next_seq=flows.sent[silent],
        inflight=none,
        rtt=np.full(len(silent), np.nan),
        ce_packets=none,
        cnps=none,
        lost_packets=packets,
        timeouts=np.ones(len(silent), np.int64),
    )
