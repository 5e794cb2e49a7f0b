"""The compiled part of an agent (pace.c, batch.c, feedback.c) and its state as numpy columns (datapath.h)."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence
from ctypes import c_double
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from testbed.agent.columns import Flows
from testbed.agent.histogram import TimeHistogram
from testbed.agent.meter import Meter
from testbed.agent.structs import HOPS, ROWS, CAnswers, CDatapath, CHeap, CHistogram, CRing, CTrace, library
from testbed.agent.tasks import TaskGraph
from testbed.base.arrays import Floats, Ints
from testbed.clock import Clock
from testbed.compiled.askable import Askable
from testbed.compiled.choosers import Choosers
from testbed.controller import Feedback, IntStack, RateController, Signal
from testbed.dataplane.wire import MAX_HOPS
from testbed.errors import TestbedError
from testbed.registry import Plugin, failed

FLIGHT = np.dtype([("ways", "<u8"), ("room", "<i8"), ("newest", "<i8"), ("longest", "<f8"), ("last", "<i8", (256,))])
KNOWN_PORT, KNOWN_PORTS = np.dtype([("node", "<i8"), ("ts", "<f8"), ("tx", "<f8")]), 4096
BATCH_WORDS = 3 + 4 * 60  # struct batch in datapath.h


@dataclass(frozen=True)
class Pauses:
    """The pauses that the NICs have recorded."""

    records: NDArray[np.void]  # of dtype `testbed.dataplane.wire.PAUSE`, of the whole rack
    of_host: Ints  # position of each of the agent's hosts in there
    relook: float  # s, how often a paused host checks whether it may resume


class Outlets(Protocol):
    """Where flows send; see `testbed.agent.sockets.Sockets`."""

    packet: NDArray[np.uint8]
    fds: Ints
    short_at: Ints
    short_sizes: Ints


class FeedbackRing(Protocol):
    """Where feedback comes from; see `testbed.dataplane.ring.Ring`."""

    fd: int
    size: int

    def addresses(self) -> tuple[int, int, int]: ...


@dataclass(frozen=True)
class DelayRing:
    """A ring buffer, and for how many seconds the delay line delays its records."""

    ring: FeedbackRing
    delay: float


@dataclass(frozen=True)
class Pace:
    """How flows send. Columns have one entry per flow of the agent, in the order of their hosts."""

    host: Ints  # number of the flow's host within the agent
    line_rate: Floats  # bit/s, per flow
    wire_size: int
    burst: int  # packets that a flow sends back to back
    at_once: int  # packets that the host's shaper lets through together; 0 for any number
    credit: float  # s, how far behind schedule a sender may catch up
    quantum: float  # s, the shortest sleep: packets that are due within it leave together
    hops: Ints  # switches on the way, per flow: INT records that every ACK must carry, if it carries INT
    first: int  # number in the rack of the agent's first flow
    segment: bool  # several packets per system call
    wake_by_ring: bool
    int_on: bool
    arrivals: NDArray[np.void]  # of dtype `testbed.dataplane.wire.ARRIVALS`, of the whole rack
    interface: Ints  # position of each of the agent's hosts in there
    bucket: int = 0  # bytes that a host's shaper may queue without lagging
    uplink: Ints | None = None  # where each host's link ends in ``arrivals``; None if arrivals are not counted there
    pauses: Pauses | None = None  # where to look whether a host is paused; None without priority flow control


@dataclass(frozen=True)
class PacingStats:
    """Where the datapath counts its times."""

    rtt: TimeHistogram
    pacing: TimeHistogram
    feedback: TimeHistogram
    timers: TimeHistogram


class Answers:
    """Which flows were answered: all that they had sent when they decided came back, or was lost."""

    def __init__(self, flows: Flows) -> None:
        self._sent = flows.sent
        self._decided_at = np.zeros(len(flows), np.int64)  # `sent` when it decided
        self._answered = np.zeros(len(flows), bool)
        self._c = CAnswers(
            self._decided_at.ctypes.data, self._answered.ctypes.data, 0, -1.0, np.inf
        )  # not waited for yet
        self.address = ctypes.addressof(self._c)

    def expect(self, flows: Ints) -> None:
        """These flows decide now."""
        self._decided_at[flows] = self._sent[flows]
        self._answered[flows] = False
        self._c.count = int(np.count_nonzero(self._answered))

    def late(self, now: float) -> bool:
        """Whether half of those that are waited for were answered half of the time ago."""
        return bool(now >= 2 * self._c.half_at - self._c.began)


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
    ) -> None:
        """``code`` other than this machine's is that of an engine with time and packets of its own.

        ``tasks`` says which flows wait for others, in a rack whose agent ``number`` this is.
        """
        n, hosts = len(flows), int(pace.host.max()) + 1
        self.flows = flows
        self._owners = (sockets, rings)  # close their descriptors and memory when they go
        self._keep: list[NDArray[Any]] = []  # what C points to must live as long as this
        self._c = c = CDatapath(flows=n, hosts=hosts, burst=pace.burst, segment=pace.segment, first=pace.first)
        c.credit, c.quantum = pace.credit, pace.quantum
        c.wire_size, c.wake_by_ring, c.int_on = pace.wire_size, pace.wake_by_ring, pace.int_on
        c.at_once = pace.at_once
        self._point("flow", flows.state)
        self._point("rtt_counts", flows.rtt_counts)
        self._point("srcs", flows.srcs)
        self._own_columns(n, sockets, pace)
        self._point("line_free", np.full(hosts, -np.inf))
        self._point("first_waiting", np.full(hosts, -1))
        self._point("last_waiting", np.full(hosts, -1))
        self._point("arrivals", pace.arrivals)
        self._point("interface", pace.interface)
        answered = pace.arrivals["answered"][pace.interface].astype(np.int64)
        self._point("answered", answered)
        self._point("handed", np.zeros(hosts, np.int64))
        if pace.uplink is not None:
            self._point("uplink", pace.uplink)
            self._point("arrived_before", pace.arrivals["bytes"][pace.uplink].astype(np.int64) - answered)
            c.bucket = pace.bucket
        if pace.pauses:
            self._point("pauses", pace.pauses.records)
            self._point("pause_at", pace.pauses.of_host)
            c.relook = pace.pauses.relook
        self._point("batches", np.zeros((hosts, BATCH_WORDS), np.int64))
        self._point("filled", np.zeros(hosts, np.int64))
        self._point("packet", sockets.packet)
        c.segment_size = len(sockets.packet)
        c.agenda, c.alarms, c.starts = self._heap(n + hosts), self._heap(n), self._heap(n)
        self._share(tasks, number)
        self._rings = (CRing * len(rings))(
            *(CRing(*one.ring.addresses(), one.ring.size - 1, one.delay) for one in rings)
        )
        for one in self._rings:
            one.looked_at = ctypes.c_uint64.from_address(one.consumer).value
        c.rings, c.ring_count, c.ring_fd = ctypes.addressof(self._rings), len(rings), rings[0].ring.fd
        self._row_columns(n)
        histograms = (("rtts", lags.rtt), ("pacing", lags.pacing), ("feedback", lags.feedback), ("timers", lags.timers))
        for name, histogram in histograms:
            setattr(c, name, self._histogram(histogram))
        self._none = np.zeros(n, np.int64)
        self._none.flags.writeable = False
        self._decided: tuple[Floats | None, ...] = (None, None, None)  # the controller's columns
        self._decided_at: list[int] = []
        self._next_timer = c_double(np.inf)
        self._next_timer_at = ctypes.addressof(self._next_timer)
        self._pointer = ctypes.addressof(c)
        self._lib = code or library()

    def _point(self, name: str, column: NDArray[Any]) -> NDArray[Any]:
        setattr(self._c, name, self._keeping(column))
        return column

    def _keeping(self, column: NDArray[Any]) -> int:
        """Address of a column that will live as long as this."""
        assert column.flags.c_contiguous
        self._keep.append(column)
        return int(column.ctypes.data)

    def _heap(self, ids: int) -> CHeap:
        """An empty heap for moments of as many ids."""
        return CHeap(self._keeping(np.zeros((ids, 2))), self._keeping(np.full(ids, -1)), 0)

    def _histogram(self, histogram: TimeHistogram) -> CHistogram:
        columns = (histogram.counts, histogram.top, histogram.bottom)
        return CHistogram(*map(self._keeping, columns), len(histogram.counts), histogram.per_octave)

    def _own_columns(self, n: int, sockets: Outlets, pace: Pace) -> None:
        own = self.flows.state
        own["slot"] = pace.wire_size * 8 / pace.line_rate
        own["last"], own["next"], own["last_feedback"] = -np.inf, np.inf, np.inf
        own["hops"], own["host"], own["fd"] = pace.hops, pace.host, sockets.fds
        own["after"] = own["row"] = -1
        own["short_at"], own["short_size"] = sockets.short_at, sockets.short_sizes
        self.last_feedback: Floats = own["last_feedback"]
        self.expected: Ints = own["expected"]
        self.started: Ints = own["started"]
        self._point("unreported", np.zeros(n, np.int64))
        self._due = np.zeros((2, n), np.int64)  # what C reports: flows, and packets of each
        self._due_at = [row.ctypes.data for row in self._due]

    def _row_columns(self, n: int) -> None:
        self._rows = np.zeros((len(ROWS) + 1, n), np.int64)  # one array, for one copy; the RTT is its last row
        self.feedback_rows: Ints = self._rows[:, :0]  # columns of the last `read_feedback`
        for name, row in zip(ROWS, self._rows[:-1], strict=True):
            self._point(name, row)
        self._point("row_rtt", self._rows[-1].view(np.float64))
        self._node = self._point("hop_node", np.zeros((n, MAX_HOPS), np.int64))
        self._hops = {name: self._point(name, np.zeros((n, MAX_HOPS))) for name in HOPS[1:]}
        self._point("seen_node", np.full((n, MAX_HOPS), -1))
        self._point("seen_ts", np.full((n, MAX_HOPS), -np.inf))
        self._point("seen_tx", np.full((n, MAX_HOPS), -np.inf))

    def begin(self, clock: Clock) -> None:
        """Nominal time 0 is known now."""
        self._c.epoch_ns, self._c.seconds_per_ns = clock.epoch_ns, clock.seconds_per_ns

    def _share(self, tasks: TaskGraph | None, number: int) -> None:
        self._point("start", self.flows.start)
        self._tasks, self._c.agent = tasks, number
        self._c.tasks = tasks.pointer if tasks else None

    def set_starts(self, start: Floats) -> None:
        """When flows start, s; inf for those that wait for others."""
        self.flows.start[:] = start
        self._lib.add_starts(self._pointer)

    def next_start(self) -> float:
        """When the next flow starts; inf for none that is known."""
        return float(self._lib.next_start(self._pointer))

    def due_starts(self, now: float) -> Ints:
        """Flows that start by ``now``, earliest first."""
        return self._due[0, : self._lib.due_starts(self._pointer, now, self._due_at[0])].copy()

    def take_many_paths(
        self, timeout: float, base_rtt: Floats, choosers: Choosers | None, plugin: Plugin | None
    ) -> None:
        """The packets of a flow take several paths, which ``choosers`` choose, or the switches.

        A packet that has not come back for ``timeout`` seconds, or four times the flow's longest RTT, is lost. The code
        must be compiled for it.
        """
        paths, flights = self._c.paths, np.zeros(len(self.flows), FLIGHT)
        flights["newest"] = flights["last"] = -1
        flights["longest"] = base_rtt
        known = np.zeros(KNOWN_PORTS, KNOWN_PORT)
        known["node"] = -1
        paths.flights, paths.known, paths.timeout = self._keeping(flights), self._keeping(known), timeout
        self._choosing = (choosers, plugin)
        if choosers:
            paths.chooser = choosers.address

    def ask(self, controller: Askable, meter: Meter, longest_sleep: float, gather: float, cost: float = 0.0) -> None:
        """Decisions are made in C from now on, by this controller, whenever something comes back.

        Each takes ``cost`` seconds on a core that makes one after the other (core.h).
        """
        assert controller.addresses is not None
        signals, c, trace = controller.signals, self._c.decisions, meter.trace.addresses()
        self._asked = (controller, meter, trace_c := CTrace(*trace), times := self._histogram(meter.decision_times))
        c.of, c.trace, c.times = self._keeping(controller.addresses), ctypes.addressof(trace_c), ctypes.addressof(times)
        c.wants_int, c.wants_sent, c.wants_src = (one in signals for one in (Signal.INT, Signal.TX, Signal.SRC))
        c.longest_sleep, c.gather = longest_sleep, gather
        if cost:
            n = len(self.flows)
            c.core.cost, c.core.size = cost, 2 * n
            c.core.queue, c.core.newest = self._keeping(np.zeros((2 * n, 5))), self._keeping(np.full(n, -1))
        c.due, c.counts = self._keeping(np.zeros(len(self.flows), np.int64)), self._keeping(meter.decisions)
        c.seconds = self._keeping(meter.decision_seconds)

    def start_flows(self, flows: Ints, now: float) -> None:
        """`ask`: these flows start."""
        flows = np.ascontiguousarray(flows, np.int64)
        self._lib.start_flows(self._pointer, flows.ctypes.data, len(flows), now)

    def time_out(self, flows: Ints, now: float) -> None:
        """`ask`: these flows have been silent for too long."""
        flows = np.ascontiguousarray(flows, np.int64)
        self._lib.time_out(self._pointer, flows.ctypes.data, len(flows), now)

    def decide_due(self, now: float) -> None:
        """`ask`: make all decisions that are due by ``now``."""
        self._lib.decide_due(self._pointer, now)

    def serve(self, until: float) -> bool:
        """`ask`: sleep, send and decide until then; or until a timer turns out to stay in the past, and whether so.

        Raises TestbedError if sockets do not work.
        """
        endless = bool(self._lib.serve(self._pointer, until))
        self._check()
        return endless

    @property
    def has_failed(self) -> bool:
        """`ask`: whether the controller has failed, which it says by itself."""
        return bool(self._c.decisions.failed)

    @property
    def steps(self) -> int:
        """`ask`: how often it was looked whether something is due."""
        return int(self._c.decisions.steps)

    @property
    def refused(self) -> int:
        """Packets that the kernel did not take: a full socket buffer."""
        return int(self._c.refused)

    @property
    def swapped(self) -> int:
        """ACKs that the cores of this machine had reordered."""
        return int(self._c.swapped)

    @property
    def int_faults(self) -> int:
        """ACKs whose INT records were out of order."""
        return int(self._c.int_faults)

    @property
    def above_line(self) -> int:
        """Decisions for more than the line rate, which was sent instead."""
        return int(self._c.above_line)

    @property
    def high_water(self) -> int:
        """The most bytes that ever waited in the ring."""
        return int(self._c.high_water)

    def next_due(self) -> float:
        """When the oldest waiting feedback is due; inf for none."""
        return float(self._lib.next_due(self._pointer))

    def pace(self, until: float) -> None:
        """Sleep and send until then, or until the ring wakes us.

        Raises TestbedError if sockets do not work, PluginFailed if a path chooser does not.
        """
        self._lib.pace(self._pointer, until)
        self._check()

    def _check(self) -> None:
        if self._c.send_error:
            raise TestbedError(f"an agent cannot send: {os.strerror(self._c.send_error)}")
        if self._c.paths.failed:
            choosers, plugin = self._choosing
            assert choosers
            assert plugin
            try:
                choosers.fail()
            except Exception as error:
                raise failed(plugin, error) from error

    def send_due(self, now: float) -> None:
        """Send everything that is due by ``now``; does not sleep."""
        self._lib.send_due(self._pointer, now)

    def reschedule(self, flows: Ints, now: float) -> None:
        """Rate, window or what is left to send of ``flows`` has changed."""
        flows = np.ascontiguousarray(flows, np.int64)
        self._lib.reschedule(self._pointer, flows.ctypes.data, len(flows), now)

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
        wrong = self._lib.apply_decisions(
            self._pointer, address, len(flows), now, *self._decided_at, self._next_timer_at, copy_to
        )
        return wrong, self._next_timer.value

    def due_timers(self, now: float) -> Ints:
        """Flows whose timers are due, earliest first; `apply_decisions` must follow, which sets them again."""
        return self._due[0, : self._lib.due_timers(self._pointer, now, self._due_at[0])].copy()

    def report_sent(self) -> tuple[Ints, Ints]:
        """Flows that have sent something since the last call, and how many packets each."""
        k = self._lib.report_sent(self._pointer, *self._due_at)
        flows, packets = self._due[:, :k].copy()
        return flows, packets

    def read_feedback(self, now: float, want_int: bool) -> tuple[Ints, Feedback] | None:
        """The feedback that is due by ``now``, one row per flow; None if there is none."""
        return self._told(self._lib.read_feedback(self._pointer, now), want_int)

    def gather(
        self, answers: Answers, until: float, enough: int, began: float, want_int: bool
    ) -> tuple[Ints, Feedback] | None:
        """Sleep and send until then, until a timer is due, or until ``enough`` flows are answered or one has finished.

        Or until it is `Answers.late`, of those that are waited for since ``began`` (s). Returns what came back, one row
        per flow; None if nothing did. Raises TestbedError if sockets do not work.
        """
        rows = self._lib.gather(self._pointer, answers.address, until, enough, began)
        self._check()
        return self._told(rows, want_int)

    def _told(self, k: int, want_int: bool) -> tuple[Ints, Feedback] | None:
        """The first ``k`` rows; None if there are none."""
        if not k:
            return None
        self.feedback_rows = self._rows[:, :k].copy()
        flow, acked, sizes, ce, inc, cnps, lost, hops, last, following, inflight, rtt = self.feedback_rows
        return flow, Feedback(
            acked_packets=acked,
            acked_bytes=sizes,
            acked_seq=last,
            next_seq=following,
            inflight=inflight,
            rtt=rtt.view(np.float64),
            ce_packets=ce,
            cnps=cnps,
            lost_packets=lost,
            timeouts=self._none[:k],
            int_stack=self._int_stack(k, hops) if want_int else None,
            inc_packets=inc,
        )

    def _int_stack(self, k: int, hops: Ints) -> IntStack:
        most = max(1, int(hops.max()))
        ts, tx_bytes, queue, rate = (column[:k, :most].copy() for column in self._hops.values())
        return IntStack(hops, self._node[:k, :most].copy(), ts, tx_bytes, queue, rate)

    def declare_lost(self, flows: Ints, now: float) -> None:
        """Declare everything in flight of ``flows`` lost: the retransmission timeout."""
        state = self.flows
        if self._c.paths.chooser:
            flows = np.ascontiguousarray(flows, np.int64)
            self._lib.give_up(self._pointer, flows.ctypes.data, len(flows), now)
        lost = state.inflight[flows]
        self.expected[flows] = state.sent[flows]
        state.lost[flows] += lost
        state.to_send[flows] += lost
        state.inflight[flows] = 0
        state.timeouts[flows] += 1


def _address(column: object, n: int) -> int:
    if not isinstance(column, np.ndarray) or column.dtype != np.float64 or column.shape != (n,):
        raise TypeError(f"expected {n} float64 numbers, got {column!r:.60}")
    if not column.flags.c_contiguous:
        raise TypeError("expected a contiguous array")
    return int(column.ctypes.data)
