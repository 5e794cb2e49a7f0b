"""What an agent tells its controller and what the controller decides: every call, in memory that outlives the agent.

A call is a header and words of 8 bytes, column by column: rate, window, timer as decided; the flows; what was told.
Recording is a few copies of arrays per call and nothing per row. Rows are made of it when the run is over.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Mapping
from ctypes import c_int64, c_void_p
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from testbed.base.arrays import Floats, Ints
from testbed.base.compiler import LIBRARY_FLAGS, Unit
from testbed.base.pages import small_zeros
from testbed.base.shared import Shared
from testbed.controller import Feedback, IntStack

KINDS = ("on_start", "on_feedback", "timeout", "on_sent", "on_timer", "on_src")
"""A timeout is a call of on_feedback as well. An SRC is recorded as feedback with one hop, its age as the RTT."""
START, FEEDBACK, TIMEOUT, SENT, TIMER, SRC = range(len(KINDS))
DECIDED = ("rate", "window", "timer")
INC = "inc_packets"
TOLD = (
    "acked_packets", "acked_bytes", "ce_packets", INC, "cnps", "lost_packets", "hops", "acked_seq",
    "next_seq", "inflight",
)  # fmt: skip
"""Columns of what feedback tells, in the order of the datapath's rows, which begin with the flow."""
HOP = ("node", "ts", "tx_bytes", "queue", "rate")
RTT_AT = len(DECIDED) + 1 + len(TOLD)  # columns before the RTT
HOPS_AT = RTT_AT + 1
COUNTS = TOLD[:7]
"""0 in calls of other kinds, which is true; nulls would cost more to write than the numbers."""
# the columns of trace.c
NARROW = ("call", "flow", *COUNTS)
WIDE = ("time", *DECIDED, *TOLD[7:], "rtt", "sent_bytes")
WHOLE = (*TOLD[7:], "sent_bytes")  # numbers among these
FLAGS = ("-O1", *LIBRARY_FLAGS[1:])  # copies: more makes them no faster, and takes three times as long to compile
ROWS = Unit("trace", (Path(__file__).with_name("trace.c"),), ".so", FLAGS)
_library = cache(
    partial(
        ROWS.library, fill=(c_int64, [c_void_p, c_void_p, c_int64, c_int64, c_void_p]),
        order_instants=(None, [c_void_p, c_int64, c_void_p, c_void_p]),
    )
)  # fmt: skip
Block = list[tuple[str, NDArray[Any], NDArray[np.uint8] | None]]
"""Columns: name, values, and, where a row may have none, bits of those that do, the lowest first."""

_HEADER = struct.Struct("=dqqqq")  # nominal time, first word, kind, rows, hops (-1: no INT)


class _CRows(ctypes.Structure):
    """struct rows of trace.c."""

    _fields_ = [
        *((name, c_void_p) for name in ("kind", "narrow", "wide", "valid")),
        *((name, c_int64) for name in ("size", "hops", "length")),
    ]


class DecisionTrace:
    """Takes ``rows`` rows (flows that a call was about, summed); ends with the first call that does not fit.

    ``zeros`` allocates: pages are there once they are written to. With ``take`` there is memory for ``room`` rows,
    which is used again: whenever it is full, ``take`` is called with this, and says how many rows there were.
    """

    def __init__(
        self,
        rows: int,
        hops: int,
        zeros: Callable[..., Ints] = Shared.ints,
        *,
        room: int = 0,
        take: Callable[[DecisionTrace], int] | None = None,
    ) -> None:
        self._take, self._most, self._room = take, rows, min(rows, room) if take else rows
        self._taken_calls = self._taken_rows = 0
        self._ints = zeros(self._room * (HOPS_AT + len(HOP) * hops))
        self._floats = self._ints.view(np.float64)
        self._headers = zeros(self._room, _HEADER.size // 8)
        self._ints_of_state = zeros(2)
        self._state = self._ints_of_state.data  # calls; whether there were more; quicker than numpy
        self._header_bytes = self._headers.data.cast("B") if rows else memoryview(b"")
        self._address, self._header_address = self._ints.ctypes.data, self._headers.ctypes.data
        self._left = self._room if rows else -1
        self._calls = self._at = self._end = self._told = 0
        self.copy_to = (
            0  # address where rate, window and timer of the call's flows belong, column by column; 0: nowhere
        )

    @property
    def calls(self) -> int:
        """Recorded calls."""
        return self._taken_calls + self.held_calls

    @property
    def rows(self) -> int:
        """Recorded rows."""
        return self._taken_rows + self._held_rows

    @property
    def held_calls(self) -> int:
        """Calls that have not been taken."""
        return int(self._state[0])

    @property
    def _held_rows(self) -> int:
        return int(self._headers[: self.held_calls, 3].sum())

    @property
    def cut(self) -> bool:
        """Whether there were more calls than fit."""
        return bool(self._state[1])

    def record(self, kind: int, now: float, rows: int, ints: Ints, stack: IntStack | None = None) -> None:
        """A call is about to be made. ``ints``: columns of ``rows`` numbers; flows first, RTTs of feedback last."""
        if rows > self._left >= 0:
            self.make_room()
        if rows > self._left:
            if self._left >= 0:
                self._state[1], self._left = 1, -1  # what comes after a gap is of no use
            return
        at = self._at + len(DECIDED) * rows
        end = at + ints.size
        self._ints[at:end] = ints.reshape(-1)
        hops = -1
        if stack is not None:
            hops = stack.node.shape[1]
            at, end = end, end + rows * hops
            self._ints[at:end] = stack.node.reshape(-1)
            for column in (stack.ts, stack.tx_bytes, stack.queue, stack.rate):
                at, end = end, end + rows * hops
                self._floats[at:end] = column.reshape(-1)
        _HEADER.pack_into(self._header_bytes, self._calls * _HEADER.size, now, self._at, kind, rows, hops)
        self.copy_to = self._address + 8 * self._at
        self._end = end
        self._told = rows

    @property
    def goes_on(self) -> bool:
        """Whether it takes calls: none was left out yet."""
        return self._left >= 0

    def make_room(self) -> int:
        """Let what is there be taken, if anybody does; how many rows fit now."""
        if self._take:
            self._taken_rows += self._take(self)
            self._taken_calls += self.held_calls
            self._left = min(self._room, self._most - self._taken_rows)
            self._state[0] = self._calls = self._at = 0
        return self._left

    @property
    def is_taken(self) -> bool:
        """Whether somebody takes what is there when it is full: then `make_room` is to be called."""
        return self._take is not None

    def addresses(self) -> tuple[int, int, int, int, int]:
        """For whoever records in C (agent/trace.h): words, headers, state, the first free word, rows that fit."""
        return self._address, self._header_address, self._ints_of_state.ctypes.data, self._at, self._left

    def decided(self, rate: Floats, window: Floats, timer: Floats) -> None:
        """The call was made where no datapath copies what it decided about its flows."""
        if self.copy_to:
            self._floats[self._at : self._at + len(DECIDED) * self._told] = np.concatenate((rate, window, timer))
        self.done()

    def done(self) -> None:
        """The call was made and its decisions are there: it counts from now on."""
        if self.copy_to:
            self.copy_to = 0
            self._left -= self._told
            self._at = self._end
            self._calls += 1
            self._state[0] = self._calls

    def packed(self) -> dict[str, NDArray[Any]]:
        """What was recorded, as arrays that `unpacked` takes."""
        headers = self._headers[: self.held_calls]
        return {"headers": headers, "words": self._ints[: self.held_end], "cut": np.array([self.cut])}

    @property
    def held_end(self) -> int:
        """Words of the calls that are held."""
        if not self.held_calls:
            return 0
        _, start, kind, rows, hops = self._headers[self.held_calls - 1].tolist()
        words = HOPS_AT if kind in (FEEDBACK, TIMEOUT, SRC) else len(DECIDED) + (2 if kind == SENT else 1)
        return int(start + rows * (words + len(HOP) * max(hops, 0)))

    @classmethod
    def unpacked(cls, arrays: Mapping[str, NDArray[Any]]) -> DecisionTrace:
        """To read it elsewhere."""
        trace = cls(0, 0)
        trace._headers, trace._ints = arrays["headers"], np.ascontiguousarray(arrays["words"], np.int64)
        trace._floats = trace._ints.view(np.float64)
        trace._address, trace._header_address = trace._ints.ctypes.data, trace._headers.ctypes.data
        trace._state[0], trace._state[1] = len(arrays["headers"]), bool(arrays["cut"][0])
        return trace

    def columns(self) -> dict[str, NDArray[Any]]:
        """One entry per row that is held; masked where a column says nothing about a kind of call. Makes copies."""
        found: dict[str, NDArray[Any]] = {}
        rows = Rows(max(self._held_rows, 1), self.widest)
        rows.fill(self, 0)
        for name, values, valid in rows.block():
            missing = None if valid is None else np.unpackbits(valid, count=len(values), bitorder="little") == 0
            found[name] = values if missing is None else np.ma.MaskedArray(values, missing)
        return found

    @property
    def widest(self) -> int:
        """The most hops that INT told of."""
        return max(int(self._headers[: self.held_calls, 4].max(initial=0)), 0)

    def held(self, first: int) -> tuple[int, int, int, int]:
        """Calls from ``first`` on of those that are held, for `fill`: headers, how many, number of the first, words."""
        at = self._header_address + first * _HEADER.size
        return at, self.held_calls - first, self._taken_calls + first, self._address

    def order_instants(self, calls: int, host: Ints) -> None:
        """The first ``calls`` are in the order of time: put those of one instant in the order of their flows' hosts."""
        _library().order_instants(self._header_address, calls, self._address, host.ctypes.data)

    @property
    def largest(self) -> int:
        """Rows of the largest call that is held."""
        return int(self._headers[: self.held_calls, 3].max(initial=0))


class Rows:
    """Columns that C fills with ``size`` rows or some more. What is narrow takes four bytes."""

    def __init__(self, size: int, hops: int) -> None:
        size += 8 if size % 512 == 0 else -size % 8  # columns shall not share a place in caches
        self.size, self.hops = size, hops
        self._kind = small_zeros((self.size,), np.int8)
        self._narrow = small_zeros((len(NARROW) + hops, self.size), np.int32)
        self._wide = small_zeros((len(WIDE) + len(HOP[1:]) * hops, self.size), np.int64)
        self._valid = small_zeros((2 + hops, self.size // 8), np.uint8)
        memory = (self._kind, self._narrow, self._wide, self._valid)
        self._c, self._cleared = _CRows(*(one.ctypes.data for one in memory), self.size, hops), 0
        self._address, self._fill = ctypes.addressof(self._c), _library().fill

    def fill(self, trace: DecisionTrace, first: int) -> int:
        """Add the rows of calls from ``first`` on of those that ``trace`` holds, as many as fit; how many calls."""
        return int(self._fill(self._address, *trace.held(first)))

    @property
    def added(self) -> int:
        """Rows that there have been so far."""
        return self._cleared + int(self._c.length)

    def clear(self) -> None:
        """No rows."""
        self._cleared, self._c.length = self.added, 0
        self._valid[:] = 0

    def block(self) -> Block:
        """The rows, which share this memory."""
        rows = int(self._c.length)
        heard, sent, *there = self._valid[:, : (rows + 7) // 8]
        narrow = dict(zip(NARROW, self._narrow, strict=False))
        wide = {
            name: one if name in WHOLE else one.view(np.float64) for name, one in zip(WIDE, self._wide, strict=False)
        }
        columns: Block = [("kind", self._kind, None)]
        for name in ("call", "time", "flow", *DECIDED, *TOLD, "rtt", "sent_bytes"):
            valid = sent if name == "sent_bytes" else heard if name in (*TOLD[len(COUNTS) :], "rtt") else None
            columns.append((name, narrow[name] if name in narrow else wide[name], valid))
        for hop, valid in enumerate(there):
            columns.append((f"hop{hop + 1}_{HOP[0]}", self._narrow[len(NARROW) + hop], valid))
            for place, name in enumerate(HOP[1:]):
                column = self._wide[len(WIDE) + place * self.hops + hop].view(np.float64)
                columns.append((f"hop{hop + 1}_{name}", column, valid))
        return [(name, values[:rows], valid) for name, values, valid in columns]


def feedback_row(flows: Ints, feedback: Feedback) -> Ints:
    """What `DecisionTrace.told` wants of feedback that did not come from the datapath."""
    stack = feedback.int_stack
    none = np.zeros(len(flows), np.int64)
    own = {"hops": none if stack is None else stack.hops}
    own |= {INC: none} if feedback.inc_packets is None else {}
    told = [own[name] if name in own else getattr(feedback, name) for name in TOLD]
    return np.array([flows, *told, feedback.rtt.view(np.int64)])
