"""What an agent tells its controller and what the controller decides: every call, in memory that outlives the agent.

A call is a header and words of 8 bytes, column by column: rate, window, timer as decided; the flows; what was told.
Recording is a few copies of arrays per call and nothing per row. Rows are made of it when the run is over.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from testbed.base.arrays import Floats, Ints
from testbed.base.shared import Shared
from testbed.controller import Feedback, IntStack

KINDS = ("on_start", "on_feedback", "timeout", "on_sent", "on_timer")  # a timeout is a call of on_feedback as well
START, FEEDBACK, TIMEOUT, SENT, TIMER = range(len(KINDS))
DECIDED = ("rate", "window", "timer")
TOLD = (
    "acked_packets", "acked_bytes", "ce_packets", "cnps", "lost_packets", "hops", "acked_seq", "next_seq", "inflight",
)  # fmt: skip
"""Columns of what feedback tells, in the order of the datapath's rows, which begin with the flow."""
HOP = ("node", "ts", "tx_bytes", "queue", "rate")
RTT_AT = len(DECIDED) + 1 + len(TOLD)  # columns before the RTT
HOPS_AT = RTT_AT + 1
AT_ONCE = 1024  # rows, whose words fit in a cache

_HEADER = struct.Struct("=dqqqq")  # nominal time, first word, kind, rows, hops (-1: no INT)


class DecisionTrace:
    """Holds ``rows`` rows (flows that a call was about, summed); ends with the first call that does not fit.

    ``zeros`` allocates: pages are there once they are written to.
    """

    def __init__(self, rows: int, hops: int, zeros: Callable[..., Ints] = Shared.ints) -> None:
        self._ints = zeros(rows * (HOPS_AT + len(HOP) * hops))
        self._floats = self._ints.view(np.float64)
        self._headers = zeros(rows, _HEADER.size // 8)
        self._ints_of_state = zeros(2)
        self._state = self._ints_of_state.data  # calls; whether there were more; quicker than numpy
        self._header_bytes = self._headers.data.cast("B") if rows else memoryview(b"")
        self._address = self._ints.ctypes.data
        self._left = rows if rows else -1
        self._calls = self._at = self._end = self._told = 0
        self.copy_to = (
            0  # address where rate, window and timer of the call's flows belong, column by column; 0: nowhere
        )

    @property
    def calls(self) -> int:
        """Recorded calls."""
        return int(self._state[0])

    @property
    def rows(self) -> int:
        """Recorded rows."""
        return int(self._headers[: self.calls, 3].sum())

    @property
    def cut(self) -> bool:
        """Whether there were more calls than fit."""
        return bool(self._state[1])

    def record(self, kind: int, now: float, rows: int, ints: Ints, stack: IntStack | None = None) -> None:
        """A call is about to be made. ``ints``: columns of ``rows`` numbers; flows first, RTTs of feedback last."""
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

    def addresses(self) -> tuple[int, int, int, int, int]:
        """For whoever records in C (agent/trace.h): words, headers, state, the first free word, rows that fit."""
        return self._address, self._headers.ctypes.data, self._ints_of_state.ctypes.data, 0, self._left

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
        headers, end = self._headers[: self.calls], 0
        if len(headers):
            _, start, kind, rows, hops = headers[-1].tolist()
            words = HOPS_AT if kind in (FEEDBACK, TIMEOUT) else len(DECIDED) + (2 if kind == SENT else 1)
            end = start + rows * (words + len(HOP) * max(hops, 0))
        return {"headers": headers, "words": self._ints[:end], "cut": np.array([self.cut])}

    @classmethod
    def unpacked(cls, arrays: Mapping[str, NDArray[Any]]) -> DecisionTrace:
        """To read it elsewhere."""
        trace = cls(0, 0)
        trace._headers, trace._ints = arrays["headers"], np.ascontiguousarray(arrays["words"], np.int64)
        trace._floats = trace._ints.view(np.float64)
        trace._state[0], trace._state[1] = len(arrays["headers"]), bool(arrays["cut"][0])
        return trace

    def columns(self) -> dict[str, NDArray[Any]]:
        """One entry per row; masked where a column says nothing about a kind of call. Makes copies."""
        headers = self._headers[: self.calls]
        start, kind, count, hops = headers[:, 1:].T
        call = np.repeat(np.arange(len(headers)), count)
        rows, row = count[call], np.arange(len(call)) - (np.cumsum(count) - count)[call]
        first = start[call] + row
        kind, hops = kind[call], hops[call]
        heard = (kind == FEEDBACK) | (kind == TIMEOUT)

        def told(valid: NDArray[np.bool_], at: Ints, step: Ints, names: Sequence[str], floats: Sequence[str]) -> None:
            """Columns of the ``valid`` rows, whose words are from ``at`` on, ``step`` apart."""
            values = self._gathered(np.where(valid, at, 0), np.where(valid, step, 0), len(names))
            values[:, ~valid] = 0
            for name, column in zip(names, values, strict=True):
                found[name] = np.ma.MaskedArray(column.view(np.float64) if name in floats else column, ~valid)

        time = np.ascontiguousarray(headers[:, 0]).view(np.float64)
        found: dict[str, NDArray[Any]] = {"call": call, "time": time[call], "kind": kind}
        *decided, found["flow"] = self._gathered(first, rows, len(DECIDED) + 1)
        found |= {name: column.view(np.float64) for name, column in zip(DECIDED, decided, strict=True)}
        told(heard, first + (len(DECIDED) + 1) * rows, rows, (*TOLD, "rtt"), ("rtt",))
        told(kind == SENT, first + (len(DECIDED) + 1) * rows, rows, ("sent_bytes",), ())
        for hop in range(int(hops.max(initial=-1))):
            at = start[call] + HOPS_AT * rows + row * hops + hop
            names = [f"hop{hop + 1}_{name}" for name in HOP]
            told(hops > hop, at, rows * hops, names, names[1:])
        return found

    def _gathered(self, at: Ints, step: Ints, width: int) -> Ints:
        """For each row ``width`` words from ``at`` on, ``step`` apart; shape (width, rows).

        Rows that lie together in memory are read together.
        """
        words, columns = np.empty((width, len(at)), np.int64), np.arange(width)[:, None]
        for low in range(0, len(at), AT_ONCE):
            part = slice(low, low + AT_ONCE)
            self._ints.take(at[part] + columns * step[part], out=words[:, part])
        return words


def feedback_row(flows: Ints, feedback: Feedback) -> Ints:
    """What `DecisionTrace.told` wants of feedback that did not come from the datapath."""
    stack = feedback.int_stack
    hops = np.zeros(len(flows), np.int64) if stack is None else stack.hops
    told = [hops if name == "hops" else getattr(feedback, name) for name in TOLD]
    return np.array([flows, *told, feedback.rtt.view(np.int64)])
