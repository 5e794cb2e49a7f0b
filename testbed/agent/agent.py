"""The loop of one agent: read the ring, let the controller decide, send what is due, sleep until the next thing is due.

It runs on nominal time and never waits busily, so it would be right on a virtual clock as well. Python is here for
decisions; what happens per packet is in pace.c, batch.c and feedback.c.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from testbed.agent.barriers import Barriers
from testbed.agent.columns import Flows
from testbed.agent.datapath import Datapath
from testbed.agent.meter import Meter
from testbed.base.arrays import Floats, Ints
from testbed.clock import SHORTEST_SLEEP, Clock
from testbed.controller import Feedback, PerFlow, RateController, Signal
from testbed.errors import PluginFailed
from testbed.registry import Plugin, failed, refused
from testbed.results.trace import FEEDBACK, SENT, START, TIMEOUT, TIMER, feedback_row

QUANTA_PER_RTT = 64  # how finely packets are paced, but
BATCHES_PER_RTT = 32  # how finely feedback is delivered
USUAL_LATENESS = 2e-3  # wall seconds for which another process may hold a core: the rate must not suffer from it
CHECKS_PER_RTT = 4  # a delay line delays feedback by about an RTT: reading the ring this often loses nothing


@dataclass(frozen=True)
class Timing:
    """When flows start and what waits how long. Nominal seconds."""

    start: Floats  # inf for a flow that waits for others
    end: float
    timeout: float  # retransmission timeout
    longest_sleep: float  # the ring is read this often
    credit: float  # a sender that is later than this does not catch up
    gather: float  # feedback may wait this long for more of it
    quantum: float  # packets may wait this long for more of them
    barriers: Barriers | None = None  # if there are flows that wait for others

    @classmethod
    def of(
        cls, start: Floats, *, end: float, timeout: float, rtt: float, clock: Clock, barriers: Barriers | None = None
    ) -> Timing:
        """By the shortest base RTT ``rtt`` of the agent's flows, and what sleeping can do on this machine."""
        finest, late = clock.nominal_seconds(SHORTEST_SLEEP), clock.nominal_seconds(USUAL_LATENESS)
        return cls(
            start=start,
            end=end,
            timeout=timeout,
            longest_sleep=max(rtt / CHECKS_PER_RTT, finest),
            credit=max(rtt / CHECKS_PER_RTT, late),
            gather=rtt / BATCHES_PER_RTT,
            quantum=max(rtt / QUANTA_PER_RTT, finest),
            barriers=barriers,
        )


class Agent:
    """Serves flows 0 .. n - 1 (numbers within the agent) with one controller."""

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
        self.plugin = plugin  # of the controller, for messages
        self.clock = clock
        self.controller = controller
        signals = controller.form.signals if isinstance(controller, PerFlow) else controller.signals
        self._wants_int, self._wants_sent = Signal.INT in signals, Signal.TX in signals
        self.datapath = datapath
        self.flows = datapath.flows
        self.timing = timing
        self.meter = meter
        self._trace = meter.trace
        self.flows.start[:] = timing.start
        self._order = np.argsort(timing.start, kind="stable")
        self._starts = timing.start[self._order]
        self._begun = 0  # flows that have started
        self._steps = 0
        self._decisions = meter.decisions.data
        self._seconds = meter.decision_seconds.data.cast("B").cast("d")
        self._next_start = float(self._starts[0])
        self._next_check = 0.0
        self._next_report = 0.0
        self._next_timer = np.inf
        self._called: Callable[..., None] = controller.on_start  # last
        datapath.begin(clock)

    def run(self) -> None:
        """Until the end of the run. Raises PluginFailed if the controller does."""
        offset = time.time_ns() - time.monotonic_ns()
        try:
            while (now := self.clock.now()) < self.timing.end:
                self.step(now)
                self.datapath.pace(min(self._next_event(now), self.timing.end))
        finally:
            self._close()
            self.meter.clock_jump[0] = abs(time.time_ns() - time.monotonic_ns() - offset) / 1e9

    def step(self, now: float) -> None:
        """All decisions that are due now."""
        self._steps += 1
        if self.timing.barriers is not None:
            self._release(self.timing.barriers, now)
        if self._next_start <= now:
            self._start_flows(now)
        if self._wants_sent and now >= self._next_report:
            self._report_sent(now)
        if self.datapath.next_due() <= now:
            batch = self.datapath.read_feedback(now, self._wants_int)
            if batch is not None:
                self._trace.record(FEEDBACK, now, len(batch[0]), self.datapath.feedback_rows, batch[1].int_stack)
                self._decide(now, *batch)
        if self._next_timer <= now:
            due = np.sort(self.datapath.due_timers(now))
            self._trace.record(TIMER, now, len(due), due)
            self._call(self.controller.on_timer, now, due)
            self._apply(due, now)
        if now >= self._next_check:
            self._check_timeouts(now)

    def _close(self) -> None:
        """Copy to the shared memory what was counted in objects, which are faster."""
        datapath = self.datapath
        self.meter.counters[:] = (
            datapath.refused, datapath.high_water, self._steps, datapath.swapped, datapath.int_faults,
            datapath.above_line,
        )  # fmt: skip

    def _next_event(self, now: float) -> float:
        """When to decide again. Feedback and timers are gathered for a moment: several cost little more than one."""
        soonest = max(min(self.datapath.next_due(), self._next_timer), now) + self.timing.gather
        return min(soonest, now + self.timing.longest_sleep, self._next_start, self._next_check)

    def _release(self, barriers: Barriers, now: float) -> None:
        """Flows whose group has finished start now, or after their delay."""
        flows = barriers.released()
        if not len(flows):
            return
        self.flows.start[flows] = now + barriers.delay[flows]
        left = self._order[self._begun :]
        left = left[np.argsort(self.flows.start[left], kind="stable")]
        self._order[self._begun :], self._starts[self._begun :] = left, self.flows.start[left]
        self._next_start = float(self._starts[self._begun])

    def _start_flows(self, now: float) -> None:
        until = int(np.searchsorted(self._starts, now, side="right"))
        flows, self._begun = np.sort(self._order[self._begun : until]), until
        self._next_start = float(self._starts[until]) if until < len(self._starts) else np.inf
        self._trace.record(START, now, len(flows), flows)
        self._call(self.controller.on_start, now, flows)
        self.datapath.started[flows] = 1
        self._apply(flows, now)

    def _decide(self, now: float, flows: Ints, feedback: Feedback) -> None:
        began = time.perf_counter()
        self._call(self.controller.on_feedback, now, flows, feedback)
        seconds = time.perf_counter() - began
        self._decisions[0] += 1
        self._decisions[1] += len(flows)
        self._seconds[0] += seconds
        self.meter.decision_times.add(seconds)
        self._apply(flows, now)

    def _call(self, callback: Callable[..., None], *arguments: object) -> None:
        self._called = callback
        try:
            callback(*arguments)
        except Exception as error:
            raise failed(self.plugin, error) from error

    def _apply(self, flows: Ints, now: float) -> None:
        """Apply what the controller decided; refuse what cannot be a rate or a window."""
        try:
            wrong, self._next_timer = self.datapath.apply_decisions(flows, self.controller, now, self._trace.copy_to)
        except (AttributeError, TypeError) as error:
            raise self._refused(
                f"self.rate, window and timer must stay arrays, one number per flow: {error}"
            ) from error
        if wrong >= 0:
            raise self._refused(
                f"set rate {self.controller.rate[wrong]} bit/s, window {self.controller.window[wrong]} bytes and timer "
                f"{self.controller.timer[wrong]} s for a flow; expected positive numbers, and a time or inf"
            )
        self._trace.done()

    def _refused(self, why: str) -> PluginFailed:
        """What the controller decided cannot be used; names the callback that decided last."""
        own = self.controller.form.on_ack if isinstance(self.controller, PerFlow) else self._called
        return refused(self.plugin, own, why)

    def _report_sent(self, now: float) -> None:
        """Byte counters are slow clocks: reporting every packet would cost more than sending it."""
        self._next_report = now + self.timing.longest_sleep
        flows, packets = self.datapath.report_sent()
        if not len(flows):
            return
        sent = packets * self.controller.paths.wire_size
        self._trace.record(SENT, now, len(flows), np.concatenate((flows, sent)))
        self._call(self.controller.on_sent, now, flows, sent)
        self._apply(flows, now)

    def _check_timeouts(self, now: float) -> None:
        self._next_check = now + self.timing.timeout / 8
        silent = np.flatnonzero((self.flows.inflight > 0) & (now - self.datapath.last_feedback > self.timing.timeout))
        if not len(silent):
            return
        self.datapath.declare_lost(silent)
        self.datapath.last_feedback[silent] = now
        feedback = timeout_feedback(self.flows, silent, self.datapath.expected)
        self._trace.record(TIMEOUT, now, len(silent), feedback_row(silent, feedback))
        self._decide(now, silent, feedback)


def timeout_feedback(flows: Flows, silent: Ints, expected: Ints) -> Feedback:
    """The feedback for the controller when the retransmission timeout fires."""
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
        lost_packets=none,
        timeouts=np.ones(len(silent), np.int64),
    )
