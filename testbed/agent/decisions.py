"""A controller per flow, which C asks whenever something comes back (decisions.c)."""

from __future__ import annotations

import ctypes

import numpy as np

from testbed.agent.agent import Timing
from testbed.agent.datapath import Datapath
from testbed.agent.meter import Meter
from testbed.agent.structs import CTrace
from testbed.base.arrays import Ints
from testbed.compiled.askable import Askable
from testbed.controller import Signal
from testbed.results.trace import DecisionTrace


class Decisions:
    """Those of a datapath's flows. A controller that has failed says so by itself."""

    def __init__(self, datapath: Datapath, controller: Askable, meter: Meter, timing: Timing) -> None:
        """A flow's takes ``timing.decision_cost`` seconds on a core that makes one after the other (core.h)."""
        assert controller.addresses is not None
        self._datapath, self._code, self._pointer = datapath, datapath.code, datapath.pointer
        self._c = c = datapath.c.decisions
        n, memory, signals = len(datapath.flows), datapath.memory, controller.signals
        self._lost: Exception | None = None
        self.record(meter.trace)
        times = memory.histogram(meter.decision_times)
        self._keep = controller, meter, times  # C points to them
        c.of, c.times = memory.keep(controller.addresses), ctypes.addressof(times)
        c.wants_int, c.wants_sent, c.wants_src = (one in signals for one in (Signal.INT, Signal.TX, Signal.SRC))
        c.longest_sleep, c.gather = timing.longest_sleep, timing.gather
        if timing.decision_cost is not None:
            c.core.cost, c.core.size = memory.keep(timing.decision_cost), 2 * n
            c.core.queue, c.core.newest = memory.keep(np.zeros((2 * n, 5))), memory.keep(np.full(n, -1))
        c.due, c.counts = memory.keep(np.zeros(n, np.int64)), memory.keep(meter.decisions)
        c.seconds = memory.keep(meter.decision_seconds)

    def record(self, trace: DecisionTrace) -> None:
        """Calls from now on."""
        self._trace, self._record = trace, CTrace(*trace.addresses())
        if trace.is_taken:
            self._record.full = CTrace.Full(self._make_room)
        self._c.trace = ctypes.addressof(self._record)

    def _make_room(self) -> None:
        """C cannot pass an exception on: nothing more is recorded then, and `has_failed` raises it."""
        try:
            self._trace.make_room()
            *_, self._record.at, self._record.left = self._trace.addresses()
        except Exception as error:  # noqa: BLE001
            self._lost = error

    def time_out(self, flows: Ints, packets: Ints, now: float) -> None:
        """These flows have been silent for too long, and so many packets of each count as lost."""
        flows, packets = np.ascontiguousarray(flows, np.int64), np.ascontiguousarray(packets, np.int64)
        self._code.time_out(self._pointer, flows.ctypes.data, packets.ctypes.data, len(flows), now)

    def decide_due(self, now: float) -> None:
        """Make all decisions that are due by ``now``, and start flows."""
        self._code.decide_due(self._pointer, now)

    def serve(self, until: float) -> bool:
        """Sleep, send and decide until then; or until a timer turns out to stay in the past, and whether so.

        Raises TestbedError if sockets do not work.
        """
        endless = bool(self._code.serve(self._pointer, until))
        self._datapath.check()
        return endless

    @property
    def has_failed(self) -> bool:
        """Whether the controller has. Raises what kept decisions from being recorded."""
        if self._lost:
            raise self._lost
        return bool(self._c.failed)

    @property
    def steps(self) -> int:
        """How often it was looked whether something is due."""
        return int(self._c.steps)
