"""When each flow's next packet leaves: rate, window, and the host's line shared round robin.

Departures follow an ideal schedule in nominal time. A loop that wakes late sends what is due and stays on the schedule,
so lateness delays packets but does not lower the rate; how late each packet was is the pacing lag. A flow whose turn
has passed while its window was closed, or while others held the line, gains no credit.

Events wait in one heap, so the cost grows with packets and not with flows. Scalars of Python and memory views are used
throughout: for the few packets that are due at a time they are faster than numpy's calls.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from heapq import heappop, heappush

from testbed.agent.columns import Flows
from testbed.agent.histogram import TimeHistogram
from testbed.agent.sockets import Sockets
from testbed.controller import Floats, Ints

NEVER = float("inf")
MOST_AT_ONCE = 60  # packets of one flow in one system call; the kernel takes 64 segments and 65,507 bytes


@dataclass(frozen=True)
class Pace:
    """What the pacer needs to know. Columns have one entry per flow of the agent, in the order of their hosts."""

    host: Ints  # number of the flow's host within the agent
    line_rate: Floats  # bit/s, per flow
    wire_size: int
    burst: int  # packets that a flow sends back to back
    credit: float  # s, how far behind schedule a sender may catch up


class Pacer:
    """Sends what is due. Events are (time, flow), or (time, -1 - host) when a host's line becomes free for a waiter."""

    def __init__(self, flows: Flows, sockets: Sockets, pace: Pace, lag: TimeHistogram) -> None:
        n = len(flows)
        self.sockets = sockets
        self.pace = pace
        self.lag = lag
        self.bits = pace.wire_size * 8
        self.slot = [self.bits / rate for rate in pace.line_rate.tolist()]  # s, a packet on the host's line
        self.host = pace.host.tolist()
        self.last = [-NEVER] * n  # ideal departure of the newest packet
        self.next = [NEVER] * n  # ideal departure of the next one
        self.queued = [False] * n  # waits for its host's line
        self.started = [False] * n
        self.silent_since = [NEVER] * n  # when the flow began to wait for its first answer
        self.line_free = [-NEVER] * (max(self.host) + 1)
        self.waiting: list[deque[int]] = [deque() for _ in self.line_free]
        self.just_sent: dict[int, int] = {}  # flow: packets since the agent last looked
        self.refused = 0  # packets that the kernel did not take (full socket buffer)
        self.events: list[tuple[float, int]] = []
        self._rate, self._window = memoryview(flows.rate), memoryview(flows.window)
        self._sent, self._inflight = memoryview(flows.sent), memoryview(flows.inflight)
        self._to_send = memoryview(flows.to_send)

    def start(self, flows: list[int], now: float) -> None:
        """Flows may send from now on."""
        for flow in flows:
            self.started[flow] = True
        self.reschedule(flows, now)

    def _room(self, flow: int) -> int:
        """Packets that the flow may send now. With nothing in flight it is at least one, or the flow would be stuck."""
        if not self.started[flow]:
            return 0
        to_send, inflight, window = self._to_send[flow], self._inflight[flow], self._window[flow]
        if window == NEVER:
            return to_send
        fits = int(window // self.pace.wire_size) - inflight
        return min(to_send, fits if fits > 0 or inflight else 1)

    def reschedule(self, flows: list[int], now: float) -> None:
        """Rate, window or what is left to send of ``flows`` has changed."""
        for flow in flows:
            if self.queued[flow]:
                continue
            if self._room(flow) <= 0:
                self.next[flow] = NEVER
                continue
            due, before = self.last[flow] + self.pace.burst * self.bits / self._rate[flow], self.next[flow]
            if due < now:  # an earlier departure than before counts from now; lateness that was there is kept
                due = min(now, max(due, before))
            if due != before:
                self.next[flow] = due
                heappush(self.events, (due, flow))

    def next_departure(self) -> float:
        """When something may be sent again; inf for never."""
        return self.events[0][0] if self.events else NEVER

    def send_due(self, now: float) -> None:
        """Send everything that is due by ``now``."""
        events = self.events
        while events and events[0][0] <= now:
            due, number = heappop(events)
            if number < 0:
                self._serve_waiter(-1 - number, due, now)
            elif self.next[number] == due and not self.queued[number]:  # otherwise it was rescheduled since
                host = self.host[number]
                if self.waiting[host] or self.line_free[host] > due:
                    self._wait_for_line(number, host)
                else:
                    self._send(number, host, due, now)

    def _wait_for_line(self, flow: int, host: int) -> None:
        self.queued[flow] = True
        self.waiting[host].append(flow)
        if len(self.waiting[host]) == 1:
            heappush(self.events, (self.line_free[host], -1 - host))

    def _serve_waiter(self, host: int, due: float, now: float) -> None:
        """Round robin: the flow that has waited longest sends, and queues up again when its next packet is due."""
        flow = self.waiting[host].popleft()
        self.queued[flow] = False
        if self._room(flow) > 0:
            self._send(flow, host, max(due, self.line_free[host]), now)
        else:
            self.next[flow] = NEVER
        if self.waiting[host]:
            heappush(self.events, (self.line_free[host], -1 - host))

    def _send(self, flow: int, host: int, departure: float, now: float) -> None:
        burst, gap, slot = self.pace.burst, self.bits / self._rate[flow], self.slot[flow]
        departure = max(departure, now - self.pace.credit)
        packets = burst
        if now - departure >= gap and not self.waiting[host]:  # late by more than a packet: catch up at once
            packets = min(burst + int((now - departure) / max(gap, slot)), max(burst, MOST_AT_ONCE))
        if packets > 1:
            packets = min(packets, self._room(flow))
        self.lag.note(now - departure)
        sent = self._sent[flow]
        if not self.sockets.send(flow, packets, sent):
            self.refused += packets
            self.next[flow] = now + slot
            heappush(self.events, (now + slot, flow))
            return
        if self._inflight[flow] == 0:
            self.silent_since[flow] = now
        self._sent[flow] = sent + packets
        self._inflight[flow] += packets
        self._to_send[flow] -= packets
        self.just_sent[flow] = self.just_sent.get(flow, 0) + packets
        self.last[flow] = departure + (packets - 1) * gap
        self.line_free[host] = departure + packets * slot
        if self._room(flow) > 0:
            self.next[flow] = due = self.last[flow] + max(burst * gap, slot)
            heappush(self.events, (due, flow))
        else:
            self.next[flow] = NEVER
