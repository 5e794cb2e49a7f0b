"""The flows of a `CompiledController`: their records, and the pointer through which C asks it (decide.h).

An agent's datapath calls the pointer itself. For everybody else this is a `RateController` like any other.
"""

from __future__ import annotations

import ctypes
from ctypes import c_double, c_int64, c_void_p
from functools import cache, partial
from pathlib import Path as FilePath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from testbed.base.arrays import Floats, Ints
from testbed.base.compiler import LIBRARY_FLAGS, Unit
from testbed.compiled.askable import Askable
from testbed.compiled.events import EVENTS
from testbed.compiled.layout import ACK
from testbed.compiled.records import Records
from testbed.controller import (
    MOST_HOPS,
    CompiledController,
    ControllerBase,
    Feedback,
    Paths,
    RateController,
    Signal,
)
from testbed.errors import BadInput
from testbed.plugin import PluginConfig

FOLDER = FilePath(__file__).parent
DECIDE = Unit("decide", (FOLDER / "decide.c",), ".so", LIBRARY_FLAGS, headers=(FOLDER,))
_library = cache(
    partial(
        DECIDE.library, feed=(c_int64, [c_void_p, c_void_p, c_int64, c_double]),
        tell_all=(c_int64, [c_void_p, c_void_p, c_int64, c_int64, c_double, c_void_p]),
        tell_one=(c_int64, [c_void_p, c_void_p]),
        tell_srcs=(c_int64, [c_void_p, c_void_p, c_int64, c_double, c_void_p, c_void_p, c_void_p]),
    )
)  # fmt: skip
COUNTS = (
    "flow", "packets", "bytes", "ce_packets", "inc_packets", "cnps", "lost", "timeouts", "seq", "next_seq", "inflight",
    "hops",
)  # fmt: skip
HOPS_ROW = COUNTS.index("hops")
STACK = ("node", "ts", "tx_bytes", "queue", "rate")


class Columns(ctypes.Structure):
    """struct columns of decide.c."""

    _fields_ = [*((name, c_void_p) for name in (*COUNTS, "rtt", *STACK)), ("most_hops", c_int64)]


class CompiledFlows(Records, Askable):
    """Runs a `CompiledController` class as a `RateController`; as machine code unless ``compiled`` is False."""

    def __init__(
        self, form: type[CompiledController], config: PluginConfig, paths: Paths, compiled: bool, isolate: bool = False
    ) -> None:
        """Raises BadInput if it cannot be compiled, and whatever its ``__init__`` raises."""
        super().__init__(form, config, paths, compiled, isolate=isolate)
        self.paths = paths
        self.c.wants_src = Signal.SRC in form.signals
        self.signals = form.signals  # type: ignore[misc] # of this object
        self.addresses = np.full(len(paths), self.address)
        self._columns = self._buffers(len(paths))
        self.rate: Floats = self.records["rate"]
        self.window: Floats = self.records["window"]
        self.timer: Floats = self.records["timer"]

    def _buffers(self, n: int) -> Columns:
        """For feedback: copying it costs less than asking numpy for addresses."""
        self._ints = np.zeros((len(COUNTS), n), np.int64)
        self._rtt = np.zeros(n)
        self._stack: list[NDArray[Any]] = [np.zeros((n, MOST_HOPS), np.int64), *np.zeros((4, n, MOST_HOPS))]
        return Columns(*(column.ctypes.data for column in (*self._ints, self._rtt, *self._stack)), MOST_HOPS)

    def on_start(self, now: float, flows: Ints) -> None:
        self._tell("on_start", now, flows)

    def on_feedback(self, now: float, flows: Ints, feedback: Feedback) -> None:
        stack, rows = feedback.int_stack, len(flows)
        increases = 0 if feedback.inc_packets is None else feedback.inc_packets
        given = (
            flows, feedback.acked_packets, feedback.acked_bytes, feedback.ce_packets, increases, feedback.cnps,
            feedback.lost_packets, feedback.timeouts, feedback.acked_seq, feedback.next_seq, feedback.inflight,
        )  # fmt: skip
        for column, told in zip(self._ints, given, strict=False):
            column[:rows] = told
        self._rtt[:rows] = feedback.rtt
        self._ints[HOPS_ROW][:rows] = 0
        if stack is not None:
            width = stack.node.shape[1]
            self._ints[HOPS_ROW][:rows] = stack.hops
            for column, name in zip(self._stack, STACK, strict=True):
                column[:rows, :width] = getattr(stack, name)
        self.hear(now, ctypes.addressof(self._columns), rows)

    def hear(self, now: float, columns: int, rows: int) -> None:
        """Feedback in so many rows of what is at this address, a `Columns`."""
        if not _library().feed(self.address, columns, rows, now):
            self.fail()

    def on_timer(self, now: float, flows: Ints) -> None:
        self._tell("on_timer", now, flows)

    def on_sent(self, now: float, flows: Ints, sent_bytes: Ints) -> None:
        self._tell("on_sent", now, flows, sent_bytes)

    def on_src(self, now: float, flows: Ints, age: Floats, queue: Floats, rate: Floats) -> None:
        """An SRC for each of the flows."""
        flows = np.ascontiguousarray(flows, np.int64)
        told = [np.ascontiguousarray(column, np.float64) for column in (age, queue, rate)]
        addresses = (column.ctypes.data for column in told)
        if not _library().tell_srcs(self.address, flows.ctypes.data, len(flows), now, *addresses):
            self.fail()

    def tell_one(self, event: str, *told: Any) -> None:
        """Tell the first flow, as the callbacks of `CompiledController` are told; for tests of what is no Python."""
        first = np.zeros(1, np.int64)
        if event == "on_ack":
            (ack,) = told
            row = np.zeros(1, ACK)
            for name in ACK.names or ():
                if name not in ("hop_count", "hops"):
                    row[name] = getattr(ack, name)
            row["hop_count"] = len(ack.int_stack)
            for i, hop in enumerate(ack.int_stack):
                row["hops"][0, i] = tuple(getattr(hop, name) for name in STACK)
            if not _library().tell_one(self.address, row.ctypes.data):
                self.fail()
        elif event == "on_src":
            now, *rest = told
            self.on_src(now, first, *(np.array([one], float) for one in rest))
        else:
            now, *numbers = told
            self._tell(event, now, first, np.array(numbers, np.int64) if numbers else None)

    def _tell(self, event: str, now: float, flows: Ints, numbers: Ints | None = None) -> None:
        flows = np.ascontiguousarray(flows, np.int64)
        number = None if numbers is None else np.ascontiguousarray(numbers, np.int64)
        at = None if number is None else number.ctypes.data
        self.tell(event, now, flows.ctypes.data, len(flows), at)

    def tell(self, event: str, now: float, flows: int, count: int, numbers: int | None) -> None:
        """Tell so many flows, with a number each or without; where these are."""
        if not _library().tell_all(self.address, flows, count, EVENTS.index(event), now, numbers):
            self.fail()


def build(
    form: type[ControllerBase], config: PluginConfig, paths: Paths, compiled: bool = True, isolate: bool = False
) -> RateController:
    """An instance of either form, ready for the agent.

    ``compiled`` False runs the form per flow as plain Python, ``isolate`` one that is C in a process of its own.
    """
    if issubclass(form, CompiledController):
        return CompiledFlows(form, config, paths, compiled, isolate)
    if isolate:
        raise BadInput(f"isolate is for controllers in C, and {form.__name__} is Python: leave it out")
    assert issubclass(form, RateController)
    return form(config, paths)
