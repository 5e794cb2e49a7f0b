"""The loop of one agent: read the ring, let the controller digest, send what is due, sleep until the next thing is due.

It runs on nominal time and never waits busily, so it would be right on a virtual clock as well.
"""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from testbed.agent.columns import ENDLESS, Flows, Shared
from testbed.agent.histogram import TimeHistogram
from testbed.agent.inbox import Inbox
from testbed.agent.pacer import Pacer
from testbed.clock import Clock
from testbed.controller import Feedback, Floats, Ints, RateController, Signal
from testbed.errors import PluginFailed

ENGINE = Path(__file__).parent.parent
SLOWEST = 1.0  # bit/s: a rate of zero would never send again


class Meter:
    """What an agent measures about itself, in memory that the recorder reads."""

    def __init__(self, rtt_bins: int) -> None:
        self.rtt = TimeHistogram(rtt_bins)
        self.pacing_lag = TimeHistogram(4)
        self.feedback_lag = TimeHistogram(4)
        self.decisions = Shared.ints(2)  # calls, rows
        self.decision_seconds = Shared.floats(1)  # wall time
        self.counters = Shared.ints(3)  # refused sends, ring high-water mark in bytes, turns of the loop

    def close(self, refused: int, ring_high_water: int) -> None:
        """Bring everything that was noted into the shared memory."""
        self.counters[:2] = refused, ring_high_water
        for histogram in (self.rtt, self.pacing_lag, self.feedback_lag):
            histogram.flush()


@dataclass(frozen=True)
class Timing:
    """When flows start and how long silence may last. Nominal seconds."""

    start: Floats
    end: float
    timeout: float  # retransmission timeout
    longest_sleep: float  # the ring is looked at this often
    gather: float  # feedback may wait this long for more of it


class Agent:
    """Serves flows 0 .. n - 1 (numbers within the agent) with one controller."""

    def __init__(
        self,
        *,
        name: str,
        clock: Clock,
        flows: Flows,
        controller: RateController,
        signals: Signal,
        inbox: Inbox,
        pacer: Pacer,
        timing: Timing,
        meter: Meter,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.name = name  # of the controller, for messages
        self.clock = clock
        self.flows = flows
        self.controller = controller
        self.signals = signals
        self.inbox = inbox
        self.pacer = pacer
        self.timing = timing
        self.meter = meter
        self.sleep = sleep
        self._pending = np.argsort(timing.start, kind="stable")  # flows that have not started
        self._heard: Floats = np.full(len(flows), -np.inf)  # when something last came back
        self._some_are_finite = bool((flows.to_send < ENDLESS).any())
        self._next_check = 0.0
        self._next_timer = np.inf

    def run(self) -> None:
        """Until the end of the run. Raises PluginFailed if the controller does."""
        try:
            while True:
                now = self.clock.now()
                if now >= self.timing.end:
                    break
                self.turn(now)
                wait = self.clock.wall_seconds(self._next_event() - self.clock.now())
                if wait > 0:
                    self.sleep(wait)
        finally:
            self.meter.close(self.pacer.refused, self.inbox.ring.high_water)

    def turn(self, now: float) -> None:
        """Everything that is due now, once."""
        self.meter.counters[2] += 1
        if len(self._pending) and self.timing.start[self._pending[0]] <= now:
            self._start_flows(now)
        if self.inbox.next_due() <= now:
            self._digest(now)
        if self._next_timer <= now:
            due = np.flatnonzero(self.controller.timer <= now)
            self._call(self.controller.on_timer, now, due)
            self._apply(due, now)
        if now >= self._next_check:
            self._check_timeouts(now)
        self.pacer.send_due(now)
        if Signal.TX in self.signals and self.pacer.just_sent:
            self._tell_sent(now)

    def _next_event(self) -> float:
        """When to look again. Feedback is gathered for a moment: several rows cost little more than one."""
        start = self.timing.start[self._pending[0]] if len(self._pending) else np.inf
        feedback = min(self.inbox.next_due() + self.timing.gather, self.clock.now() + self.timing.longest_sleep)
        return min(self.pacer.next_departure(), feedback, self._next_timer, float(start), self._next_check)

    def _start_flows(self, now: float) -> None:
        count = int(np.searchsorted(self.timing.start[self._pending], now, side="right"))
        flows, self._pending = np.sort(self._pending[:count]), self._pending[count:]
        self._call(self.controller.on_start, now, flows)
        self._apply(flows, now)
        self.pacer.start(flows.tolist(), now)

    def _digest(self, now: float) -> None:
        batch = self.inbox.collect(now, Signal.INT in self.signals)
        if batch is None:
            return
        self.meter.feedback_lag.note_all(batch.waited)
        self.meter.rtt.note_all(batch.rtts)
        self._heard[batch.flows] = now
        self._decide(now, batch.flows, batch.feedback)
        if self._some_are_finite:
            self._note_finished(batch.flows, now)

    def _decide(self, now: float, flows: Ints, feedback: Feedback) -> None:
        began = time.perf_counter()
        self._call(self.controller.on_feedback, now, flows, feedback)
        self.meter.decision_seconds[0] += time.perf_counter() - began
        self.meter.decisions += (1, len(flows))
        self._apply(flows, now)

    def _call(self, callback: Callable[..., None], *arguments: object) -> None:
        try:
            callback(*arguments)
        except Exception as error:
            raise PluginFailed(blame("controller", self.name, error)) from error

    def _apply(self, flows: Ints, now: float) -> None:
        """Take over what the controller decided; refuse what cannot be a rate or a window."""
        rate, window = self.controller.rate[flows], self.controller.window[flows]
        if not (0 < rate.min() and rate.max() < np.inf and window.min() > 0):  # nan fails these as well
            wrong = flows[~(np.isfinite(rate) & (rate > 0) & (window > 0))][0]
            raise PluginFailed(
                f"controller '{self.name}' set rate {self.controller.rate[wrong]} bit/s and window "
                f"{self.controller.window[wrong]} bytes for a flow; both must be positive numbers"
            )
        self.flows.rate[flows] = np.minimum(np.maximum(rate, SLOWEST), self.pacer.pace.line_rate[flows])
        self.flows.window[flows] = window
        self.pacer.reschedule(flows.tolist(), now)
        self._next_timer = float(self.controller.timer.min())

    def _tell_sent(self, now: float) -> None:
        sent, self.pacer.just_sent = self.pacer.just_sent, {}
        flows, packets = np.array(list(sent)), np.array(list(sent.values()))
        self._call(self.controller.on_sent, now, flows, packets * self.pacer.pace.wire_size)
        self._apply(flows, now)

    def _note_finished(self, flows: Ints, now: float) -> None:
        state = self.flows
        done = flows[(state.to_send[flows] == 0) & (state.inflight[flows] == 0) & np.isnan(state.finished[flows])]
        state.finished[done] = now

    def _check_timeouts(self, now: float) -> None:
        self._next_check = now + self.timing.timeout / 8
        heard = np.maximum(self._heard, self.pacer.silent_since)
        silent = np.flatnonzero((self.flows.inflight > 0) & (now - heard > self.timing.timeout))
        if not len(silent):
            return
        self.inbox.give_up(silent)
        self._heard[silent] = now
        self._decide(now, silent, timeout_feedback(self.flows, silent, self.inbox.expected))


def timeout_feedback(flows: Flows, silent: Ints, expected: Ints) -> Feedback:
    """What the controller hears when the retransmission timeout fires."""
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


def blame(kind: str, name: str, error: BaseException) -> str:
    """``controller 'x' (file.py, line 12): ZeroDivisionError: ...``: the innermost line that is the plugin's own."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if not _is_engine(Path(frame.filename))]
    where = (own or list(frames))[-1]
    return f"{kind} '{name}' ({where.filename}, line {where.lineno}): {type(error).__name__}: {error}"


def _is_engine(file: Path) -> bool:
    return file.is_relative_to(ENGINE) or "site-packages" in file.parts or "dist-packages" in file.parts
