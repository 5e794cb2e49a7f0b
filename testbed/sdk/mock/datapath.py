"""A mock data path: senders, one switch port and an agent, as a deterministic discrete-event simulation.

It drives any `RateController` as the agent does - pacing and window, feedback in batches, timers, loss by gaps,
retransmission timeout - but in no time at all, without a network, and with faults on demand. All hosts are equally
far from the port, so that packets reach it in the order in which they were sent: the port, the receiver and the way
back are computed at the moment of sending, and only departures and acknowledgements are events.
"""

from __future__ import annotations

import hashlib
import heapq
import math
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from testbed.compiled.flows import build
from testbed.controller import ControllerBase, Feedback, Paths, RateController, Signal
from testbed.errors import TestbedError
from testbed.plugin import PluginConfig
from testbed.sdk.mock.port import Port, Stamp, int_stack
from testbed.sdk.mock.scenario import Scenario, Trace

Watch = Callable[[float, str, RateController], None]
ENDLESS = 1000  # calls of on_timer at one instant that are taken for an endless loop


@dataclass
class _Flow:
    """The agent's and the receiver's state of one flow."""

    next_seq: int = 0
    expected: int = 0  # lowest packet number that is neither acknowledged nor lost
    highest: int = -1  # acknowledged
    heard: float = math.inf  # the retransmission timeout counts from here; inf with nothing in flight
    last_cnp: float = -math.inf


@dataclass(order=True)
class _Ack:
    """An acknowledgement on its way back."""

    due: float
    order: int
    flow: int = field(compare=False)
    seq: int = field(compare=False)
    rtt: float = field(compare=False)
    ce: bool = field(compare=False)
    cnp: bool = field(compare=False)
    stamp: Stamp = field(compare=False)


class Mock:
    """One simulation of a controller in a scenario; `run` it once."""

    def __init__(
        self,
        form: type[ControllerBase],
        config: PluginConfig,
        scenario: Scenario,
        watch: Watch | None = None,
        *,
        compiled: bool = True,
    ) -> None:
        n = scenario.flows
        self.scenario, self.watch, self.signals = scenario, watch, form.signals
        self.cnp_interval = form.cnp_interval(config)
        self.rng = random.Random(scenario.seed)
        self.port = Port(scenario.line_rate, scenario.buffer, scenario.red, self.rng)
        self.now = 0.0
        self.starts = [(i * scenario.start_gap, i) for i in reversed(range(n))]
        self.flows = [_Flow() for _ in range(n)]
        self.departed = np.full(n, np.inf)  # when a flow's last packet left; inf before the flow starts
        self.inflight, self.sent, self.acked, self.cnps = np.zeros((4, n))
        self.timeouts = 0
        self.acks: list[_Ack] = []
        self.acks_ever = 0
        self.timer_calls = (0.0, 0)  # how often timers were due at this time
        self.samples: list[dict[str, Any]] = []
        self.digest = hashlib.sha256()
        paths = Paths(
            line_rate=np.full(n, scenario.line_rate), base_rtt=np.full(n, scenario.base_rtt), hops=np.ones(n, np.int64),
            payload=scenario.payload, wire_size=scenario.wire_size,
        )  # fmt: skip
        self.controller = build(form, config, paths, compiled)
        self._decided("__init__")

    def run(self) -> Trace:
        """Simulate to the end of the scenario."""
        while True:
            flow, departure = self._next_departure()
            heard = min(flow.heard for flow in self.flows)
            due: list[tuple[float, Callable[[], None]]] = [
                (self.starts[-1][0] if self.starts else math.inf, self._start),
                (len(self.samples) * self.scenario.base_rtt, self._sample),
                (self.acks[0].due if self.acks else math.inf, self._acknowledge),
                (heard + self.scenario.timeout, self._time_out),
                (float(self.controller.timer.min()), self._timers),
                (departure, partial(self._send, flow)),
            ]
            when, event = min(due, key=lambda entry: entry[0])  # of several at once, the first in the list
            if when > self.scenario.duration:
                return self._finish()
            self.now = max(self.now, when)
            event()

    def _next_departure(self) -> tuple[int, float]:
        """The flow that may send next, and when: its pacing gap is over and its window open."""
        wire, controller = self.scenario.wire_size, self.controller
        ready = self.departed + 8 * wire / np.minimum(controller.rate, self.scenario.line_rate)
        ready[self.inflight + wire > controller.window] = np.inf
        flow = int(ready.argmin())
        return flow, max(self.now, float(ready[flow]))

    def _start(self) -> None:
        _, flow = self.starts.pop()
        self.departed[flow] = -np.inf
        self.controller.on_start(self.now, np.array([flow]))
        self._decided("on_start")

    def _send(self, index: int) -> None:
        s, flow = self.scenario, self.flows[index]
        self.departed[index] = self.now
        seq, flow.next_seq = flow.next_seq, flow.next_seq + 1
        self.inflight[index] += s.wire_size
        self.sent[index] += s.wire_size
        if math.isinf(flow.heard):
            flow.heard = self.now
        if Signal.TX in self.signals:
            self.controller.on_sent(self.now, np.array([index]), np.array([s.wire_size]))
            self._decided("on_sent")
        if self.rng.random() < s.lose:
            return
        passed = self.port.offer(self.now + s.base_rtt / 2, s.wire_size)
        if passed is None:
            return
        rtt = s.base_rtt + passed.wait
        arrival = self.now + rtt
        cnp = passed.ce and Signal.CNP in self.signals and arrival - flow.last_cnp >= self.cnp_interval
        if cnp:
            flow.last_cnp = arrival
        if s.blackout[0] <= self.now < s.blackout[1]:
            return
        copies = 2 if self.rng.random() < s.duplicate else 1
        for _ in range(copies):
            late = s.base_rtt * self.rng.random() if self.rng.random() < s.reorder else 0.0
            self.acks_ever += 1
            seen = math.ceil((arrival + late) / s.poll) * s.poll
            heapq.heappush(self.acks, _Ack(seen, self.acks_ever, index, seq, rtt + late, passed.ce, cnp, passed.stamp))

    def _acknowledge(self) -> None:
        """Everything that came back since the last look, as one batch with one row per flow."""
        batch: dict[int, list[_Ack]] = {}
        while self.acks and self.acks[0].due <= self.now:
            ack = heapq.heappop(self.acks)
            batch.setdefault(ack.flow, []).append(ack)
        lost = []
        for index, acks in batch.items():
            flow, gaps = self.flows[index], 0
            for ack in acks:
                if ack.seq >= flow.expected:  # else it is late or came before: the controller sees it all the same
                    gaps += ack.seq - flow.expected
                    flow.expected = ack.seq + 1
                flow.highest = max(flow.highest, ack.seq)
            lost.append(gaps)
            self.inflight[index] = (flow.next_seq - flow.expected) * self.scenario.wire_size
            self.acked[index] += len(acks) * self.scenario.wire_size
            self.cnps[index] += sum(ack.cnp for ack in acks)
            flow.heard = self.now if self.inflight[index] else math.inf
        self._feedback(list(batch), list(batch.values()), lost, timeouts=0)

    def _time_out(self) -> None:
        """Nothing came back for a whole timeout: all that is in flight is lost."""
        silent = [i for i, flow in enumerate(self.flows) if flow.heard + self.scenario.timeout <= self.now]
        for index in silent:
            flow = self.flows[index]
            flow.expected, flow.heard = flow.next_seq, math.inf
            self.inflight[index] = 0
        self.timeouts += len(silent)
        self._feedback(silent, [[] for _ in silent], [0] * len(silent), timeouts=1)

    def _feedback(self, flows: list[int], acks: list[list[_Ack]], lost: list[int], timeouts: int) -> None:
        count = np.array([len(row) for row in acks])
        feedback = Feedback(
            acked_packets=count,
            acked_bytes=count * self.scenario.wire_size,
            acked_seq=np.array([self.flows[index].highest for index in flows]),
            next_seq=np.array([self.flows[index].next_seq for index in flows]),
            inflight=self.inflight[flows].astype(np.int64),
            rtt=np.array([row[-1].rtt if row else math.nan for row in acks]),
            ce_packets=np.array([sum(ack.ce for ack in row) for row in acks]),
            cnps=np.array([sum(ack.cnp for ack in row) for row in acks]),
            lost_packets=np.array(lost),
            timeouts=np.full(len(flows), timeouts),
            int_stack=int_stack([row[-1].stamp if row else None for row in acks])
            if Signal.INT in self.signals
            else None,
        )
        self.controller.on_feedback(self.now, np.array(flows), feedback)
        self._decided("on_feedback")

    def _timers(self) -> None:
        due = np.flatnonzero(self.controller.timer <= self.now)
        since, calls = self.timer_calls
        self.timer_calls = (self.now, calls + 1 if since == self.now else 1)
        if self.timer_calls[1] > ENDLESS:
            raise TestbedError(f"on_timer leaves the timer of flow {due[0]} in the past: set the next time, or inf")
        self.controller.on_timer(self.now, due)
        self._decided("on_timer")

    def _decided(self, callback: str) -> None:
        controller = self.controller
        if self.watch is not None:
            self.watch(self.now, callback, controller)
        self.digest.update(np.concatenate((controller.rate, controller.window, controller.timer)).tobytes())

    def _sample(self) -> None:
        port, controller = self.port, self.controller
        queue = port.advance(self.now + self.scenario.base_rtt / 2)  # whatever is sent from now on arrives later
        self.samples.append({
            "time": self.now, "rate": controller.rate.copy(), "window": controller.window.copy(),
            "acked": self.acked.copy(), "sent": self.sent.copy(), "cnps": self.cnps.copy(), "queue": queue,
            "area": port.area, "delivered": port.offered - queue, "dropped": port.dropped, "marked": port.marked,
            "timeouts": self.timeouts,
        })  # fmt: skip

    def _finish(self) -> Trace:
        columns = {name: np.array([sample[name] for sample in self.samples]) for name in self.samples[0]}
        return Trace(**columns, decisions=self.digest.hexdigest(), scenario=self.scenario)
