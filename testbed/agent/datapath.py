"""The compiled part of an agent (pace.c, batch.c, feedback.c) and its state as numpy columns (datapath.h)."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Iterable, Sequence
from ctypes import c_double
from typing import Any

import numpy as np
from numpy.typing import NDArray

from testbed.agent.answers import Answers
from testbed.agent.columns import Flows
from testbed.agent.credits import CreditState
from testbed.agent.memory import Memory
from testbed.agent.pace import DelayRing, Outlets, Pace, PacingStats
from testbed.agent.paths import PathState
from testbed.agent.recovery import TransportState
from testbed.agent.rows import Rows
from testbed.agent.structs import CDatapath, CRing, library
from testbed.agent.tasks import TaskGraph
from testbed.base.arrays import Floats, Ints
from testbed.base.shared import Shared
from testbed.clock import Clock
from testbed.controller import Feedback, RateController
from testbed.dataplane.wire import room_for_reth
from testbed.errors import TestbedError

MOST_AT_ONCE = 60  # packets in one system call, as in datapath.h; and
LARGEST = 65000  # bytes: a UDP datagram, segmented or not, has at most 65507
BATCH_WORDS = 248  # struct batch in datapath.h


class Datapath:
    """State and operations of one agent's packets. Flow numbers are within the agent."""

    def __init__(
        self,
        flows: Flows,
        sockets: Outlets,
        rings: Sequence[DelayRing],
        pace: Pace,
        lags: PacingStats,
        *,
        code: ctypes.CDLL | None = None,
        tasks: TaskGraph | None = None,
        number: int = 0,
        many_paths: PathState | None = None,
        transport: TransportState | None = None,
        credits: CreditState | None = None,
    ) -> None:
        """``code`` other than this machine's is that of an engine with time and packets of its own.

        ``tasks`` says which flows wait for others, in a rack whose agent ``number`` this is. With ``many_paths`` the
        code must be compiled for them. Without ``transport`` a lost packet goes on as another one, without ``credits``
        receivers grant nothing.
        """
        n, hosts = len(flows), len(pace.interface)
        self.flows, self.memory, self.code = flows, Memory(), code or library()
        self._owners = (sockets, rings, tasks)  # close their descriptors and memory when they go
        self.c = c = CDatapath(flows=n, hosts=hosts, burst=pace.burst, segment=pace.segment, first=pace.first)
        self.pointer = ctypes.addressof(c)
        c.credit, c.quantum = pace.credit, pace.quantum
        c.wire_size, c.wake_by_ring, c.int_on = pace.wire_size, pace.wake_by_ring, pace.int_on
        c.segment_size, c.payload = len(sockets.packet), pace.payload
        # the shaper would split more than its bucket, with a timer per packet
        c.at_once = min(LARGEST // c.segment_size, MOST_AT_ONCE, pace.at_once or MOST_AT_ONCE)
        gates = 0 if pace.pauses is None or pace.pauses.gate is None else len(pace.pauses.of_host)
        moments = n + hosts + gates + (credits.moments if credits else 0)
        c.agenda, c.alarms, c.starts = (self.memory.heap(ids) for ids in (moments, n, n))
        c.agent, c.tasks = number, tasks.pointer if tasks else None
        self.many_paths = many_paths
        if many_paths:
            many_paths.describe(c.paths, self.memory)
        self._transport = transport  # C points into it
        if transport:
            transport.describe(c, self.memory, lags.messages)
        c.messages.reth = room_for_reth(sockets.packet, pace.payload)
        self.credits = credits
        if credits:
            credits.describe(c.credits, self.memory, slice(pace.first, pace.first + n), n + hosts + gates)
        self._of_flows(sockets, pace)
        self._of_hosts(hosts, pace, lags)
        self._point("packet", sockets.packet)
        self._read(rings)
        self.rows = Rows(n, c, self.memory)
        c.rtts, c.pacing, c.feedback, c.timers = map(
            self.memory.histogram, (lags.rtt, lags.pacing, lags.feedback, lags.timers)
        )
        self._decided: tuple[Floats | None, ...] = (None, None, None)  # the controller's columns
        self._decided_at: list[int] = []
        self.split: Callable[[Ints], Iterable[tuple[int, Ints]]] = self._alone  # in C, who serves which of these flows
        self._next_timer = c_double(np.inf)
        self._next_timer_at = ctypes.addressof(self._next_timer)

    def _point(self, name: str, column: NDArray[Any]) -> None:
        self.memory.point(self.c, name, column)

    def _of_flows(self, sockets: Outlets, pace: Pace) -> None:
        n, own = len(self.flows), self.flows.state
        own["slot"] = pace.wire_size * 8 / pace.line_rate
        own["last"], own["next"], own["last_feedback"] = -np.inf, np.inf, np.inf
        own["hops"], own["host"], own["fd"] = pace.hops, pace.host, sockets.fds
        own["after"] = own["row"] = own["before"] = own["next_pair"] = -1
        own["opener"] = own["newest"] = np.arange(n)
        own["short_at"], own["short_size"] = sockets.short_at, sockets.short_sizes
        self.last_feedback: Floats = own["last_feedback"]
        self.expected: Ints = self.flows.expected
        self.started: Ints = own["started"]
        self._point("flow", own)
        self._point("rtt_counts", self.flows.rtt_counts)
        self._point("srcs", self.flows.srcs)
        self._point("start", self.flows.start)
        if pace.pair is not None:
            self._point("pair", pace.pair)
            self._point("first_of_pair", np.full(int(pace.pair.max()) + 1, -1))
        self._point("unreported", np.zeros(n, np.int64))
        self._due = np.zeros((2, n), np.int64)  # what C reports: flows, and packets of each
        self._due_at = [row.ctypes.data for row in self._due]

    def _of_hosts(self, hosts: int, pace: Pace, lags: PacingStats) -> None:
        self._point("line_free", np.full(hosts, -np.inf))
        self._point("first_waiting", np.full(hosts, -1))
        self._point("last_waiting", np.full(hosts, -1))
        self._point("arrivals", pace.arrivals)
        self._point("interface", pace.interface)
        answered = pace.arrivals["answered"][pace.interface].astype(np.int64)
        self._point("answered", answered)
        self._point("handed", np.zeros(hosts, np.int64))
        self._given_up = np.zeros(hosts) if lags.given_up is None else lags.given_up
        self._point("given_up", self._given_up)
        self._point("batches", Shared.ints(hosts, BATCH_WORDS))
        self._point("filled", np.zeros(hosts, np.int64))
        if pace.uplink is not None:
            self._point("uplink", pace.uplink)
            self._point("arrived_before", pace.arrivals["bytes"][pace.uplink].astype(np.int64) - answered)
            self.c.bucket = pace.bucket
        if pace.pauses:
            self._point("pauses", pace.pauses.records)
            self._point("pause_at", pace.pauses.of_host)
            self.c.relook = pace.pauses.relook
            if pace.pauses.gate is not None:
                self._point("gate", pace.pauses.gate)
                self._point("first_held", np.full(len(pace.pauses.of_host), -1))
                self._point("last_held", np.full(len(pace.pauses.of_host), -1))

    def _read(self, rings: Sequence[DelayRing]) -> None:
        self._rings = (CRing * len(rings))(
            *(CRing(*one.ring.addresses(), one.ring.size - 1, one.delay) for one in rings)
        )
        for one in self._rings:
            one.looked_at = ctypes.c_uint64.from_address(one.consumer).value
        self.c.rings, self.c.ring_count = ctypes.addressof(self._rings), len(rings)
        self.c.ring_fd = rings[0].ring.fd

    def _alone(self, flows: Ints) -> Iterable[tuple[int, Ints]]:
        return [(self.pointer, flows)]

    def begin(self, clock: Clock) -> None:
        """Nominal time 0 is known now."""
        self.c.epoch_ns, self.c.seconds_per_ns = clock.epoch_ns, clock.seconds_per_ns

    def set_starts(self, start: Floats) -> None:
        """When flows start, s; inf for those that wait for others."""
        self.flows.start[:] = start
        self.code.add_starts(self.pointer)

    def next_start(self) -> float:
        """When the next flow starts; inf for none that is known."""
        return float(self.code.next_start(self.pointer))

    def due_starts(self, now: float) -> Ints:
        """Flows that start by ``now``, earliest first."""
        return self._due[0, : self.code.due_starts(self.pointer, now, self._due_at[0])].copy()

    @property
    def refused(self) -> int:
        """Packets that the kernel did not take: a full socket buffer."""
        return int(self.c.refused)

    @property
    def swapped(self) -> int:
        """ACKs that the cores of this machine had reordered."""
        return int(self.c.swapped)

    @property
    def int_faults(self) -> int:
        """ACKs whose INT records were out of order."""
        return int(self.c.int_faults)

    @property
    def above_line(self) -> int:
        """Decisions for more than the line rate, which was sent instead."""
        return int(self.c.above_line)

    @property
    def in_error(self) -> int:
        """Queue pairs that have given up."""
        return int(self.c.transport.in_error)

    @property
    def given_up(self) -> float:
        """Seconds of its line that a host did not use though it had packets to send: the most of any host."""
        return float(self._given_up.max())

    @property
    def high_water(self) -> int:
        """The most bytes that ever waited in the ring."""
        return int(self.c.high_water)

    def next_due(self) -> float:
        """When the oldest waiting feedback is due; inf for none."""
        return float(self.code.next_due(self.pointer))

    def send_until(self, until: float) -> None:
        """Sleep and send until then, or until the ring wakes us.

        Raises TestbedError if sockets do not work, PluginFailed if a path chooser or credit controller does not.
        """
        self.code.send_until(self.pointer, until)
        self.check()

    def check(self) -> None:
        """As `pace`, of what C has done."""
        if self.c.send_error:
            raise TestbedError(f"an agent cannot send: {os.strerror(self.c.send_error)}")
        if self.c.paths.failed:
            assert self.many_paths
            self.many_paths.fail()
        if self.c.credits.failed:
            assert self.credits
            self.credits.fail()

    def send_due(self, now: float) -> None:
        """Send everything that is due by ``now``; does not sleep."""
        self.code.send_due(self.pointer, now)

    def move(self, flow: int, host: int, fd: int) -> None:
        """It leaves by another NIC of its host from now on: the agent's host ``host``, through this socket."""
        self.code.move_flow(self.pointer, flow, host, fd)

    def reschedule(self, flows: Ints, now: float) -> None:
        """Rate, window or what is left to send of ``flows`` has changed."""
        for agent, own in self.split(np.ascontiguousarray(flows, np.int64)):
            self.code.reschedule(agent, own.ctypes.data, len(own), now)

    def apply_decisions(
        self, flows: Ints, controller: RateController, now: float, copy_to: int = 0
    ) -> tuple[int, float]:
        """Apply the controller's decisions for ``flows``; copy them to the address ``copy_to`` as well, unless it is 0.

        Returns a flow whose rate or window is not a positive number (-1 for none), and the earliest of all timers.
        Raises AttributeError or TypeError if rate, window or timer are no longer columns.
        """
        columns = (controller.rate, controller.window, controller.timer)
        if any(new is not old for new, old in zip(columns, self._decided, strict=True)):
            self._decided_at = [_address(column, len(self.flows)) for column in columns]
            self._decided = columns
        flows = np.ascontiguousarray(flows, np.int64)
        address = flows.__array_interface__["data"][0]
        wrong = self.code.apply_decisions(
            self.pointer, address, len(flows), now, *self._decided_at, self._next_timer_at, copy_to
        )
        return wrong, self._next_timer.value

    def due_timers(self, now: float) -> Ints:
        """Flows whose timers are due, earliest first; `apply_decisions` must follow, which sets them again."""
        return self._due[0, : self.code.due_timers(self.pointer, now, self._due_at[0])].copy()

    def report_sent(self) -> tuple[Ints, Ints]:
        """Flows that have sent something since the last call, and how many packets each."""
        k = self.code.report_sent(self.pointer, *self._due_at)
        flows, packets = self._due[:, :k].copy()
        return flows, packets

    def read_feedback(self, now: float, want_int: bool) -> tuple[Ints, Feedback] | None:
        """The feedback that is due by ``now``, one row per flow; None if there is none."""
        return self.rows.take(self.code.read_feedback(self.pointer, now), want_int)

    def gather(
        self, answers: Answers, until: float, enough: int, began: float, want_int: bool
    ) -> tuple[Ints, Feedback] | None:
        """Sleep and send until then, until a timer is due, or until ``enough`` flows are answered or one has finished.

        Or until it is `Answers.late`, of those that are waited for since ``began`` (s). Returns what came back, one row
        per flow; None if nothing did. Raises TestbedError if sockets do not work.
        """
        rows = self.code.gather(self.pointer, answers.address, until, enough, began)
        self.check()
        return self.rows.take(rows, want_int)

    @property
    def waiting(self) -> NDArray[np.bool_]:
        """Of which flows something must come back: acknowledgements, or credits."""
        if self.credits is None:
            return np.asarray(self.flows.inflight > 0)
        spent, may = self.flows.sent + self.flows.again, self.credits.spenders
        starved = (self.flows.to_send > 0) & (spent >= may["unasked"] + may["granted"]) & (self.started > 0)
        return np.asarray((self.flows.inflight > 0) | starved)

    def shortest(self, timeout: float) -> float:
        """No flow has a shorter retransmission timeout."""
        return self._transport.shortest if self._transport else timeout

    def silent(self, now: float, timeout: float) -> Ints:
        """Flows of which nothing has come back for so long; those with nothing on its way may be more patient."""
        most: Floats | float = self._transport.waits if self._transport else timeout
        if self.credits:
            most = most + self.credits.spenders["patience"] * (self.flows.inflight == 0)
        return np.flatnonzero(self.waiting & (now - self.last_feedback > most))

    def ask_again(self, flows: Ints, timeout: float, now: float) -> Ints:
        """With credits, each of ``flows`` may send a packet that asks. Returns those that have something on its way."""
        if self.credits is None:
            return flows
        self.code.ask_again(self.pointer, flows.ctypes.data, len(flows))
        on_its_way = self.flows.inflight[flows] > 0
        starved = flows[~on_its_way]
        self.credits.be_patient(starved, timeout)
        self.reschedule(starved, now)
        return flows[on_its_way]

    def declare_lost(self, flows: Ints, now: float) -> Ints:
        """The retransmission timeout: all in flight of ``flows`` counts as lost. Returns how many packets of each."""
        state = self.flows
        flows = np.ascontiguousarray(flows, np.int64)
        state.timeouts[flows] += 1
        if self.c.transport.recovery:
            before = state.lost[flows]
            for agent, own in self.split(flows):
                self.code.send_again(agent, own.ctypes.data, len(own), now)
            return state.lost[flows] - before
        if self.c.paths.chooser:
            for agent, own in self.split(flows):
                self.code.give_up(agent, own.ctypes.data, len(own), now)
        lost = state.inflight[flows]
        self.expected[flows] = state.sent[flows]
        state.lost[flows] += lost
        state.to_send[flows] += lost
        state.inflight[flows] = 0
        return lost


def _address(column: object, n: int) -> int:
    if not isinstance(column, np.ndarray) or column.dtype != np.float64 or column.shape != (n,):
        raise TypeError(f"expected {n} float64 numbers, got {column!r:.60}")
    if not column.flags.c_contiguous:
        raise TypeError("expected a contiguous array")
    return int(column.ctypes.data)
