"""What the controller is told: rows that C fills (model.c), and reads itself where the controller is compiled."""

from __future__ import annotations

import ctypes

import numpy as np

from testbed.base.arrays import Floats, Ints
from testbed.compiled.flows import Columns
from testbed.controller import Feedback, IntStack
from testbed.engines.fluid.core import Core

NAMES = (
    "node", "timeouts", "sent_bytes", "flow", "packets", "bytes", "ce_packets", "inc_packets", "cnps", "lost", "hops",
    "seq", "next_seq", "inflight", "rtt", "ts", "tx_bytes", "queue", "rate", "marked_share",
)  # fmt: skip
"""As in model.h; those of `Columns` are called as there. From flow to RTT they are a row of `testbed.results.trace`."""
(
    NODE, TIMEOUTS, SENT_BYTES, FLOW, PACKETS, BYTES, CE, INC, CNPS, LOST, HOPS,
    SEQ, NEXT_SEQ, INFLIGHT, RTT, TS, TX_BYTES, QUEUE, RATE, MARKED_SHARE,
) = range(len(NAMES))  # fmt: skip


class Told:
    """Columns of shape (n,), of which the first rows say something; `ints` and `floats` are the same memory."""

    def __init__(self, n: int, line_rate: float, core: Core, *, with_int: bool) -> None:
        self.with_int = with_int
        self.ints: Ints = np.zeros((len(NAMES), n), np.int64)
        self.floats: Floats = self.ints.view(np.float64)
        self.ints[HOPS], self.floats[RATE] = with_int, line_rate
        core.point(told=self.ints, told_real=self.floats[RTT:])
        self.at = [row.ctypes.data for row in self.ints]
        known = {name for name, *_ in Columns._fields_}
        columns = {name: at for name, at in zip(NAMES, self.at, strict=True) if name in known}
        self._columns = Columns(**columns, most_hops=1)
        self.columns = ctypes.addressof(self._columns)

    def feedback(self, rows: int) -> tuple[Ints, Feedback]:
        """Flows and feedback, in columns of their own, which the controller may keep."""
        ints = self.ints[:, :rows].copy()
        floats = ints.view(np.float64)
        return ints[FLOW], Feedback(
            acked_packets=ints[PACKETS],
            acked_bytes=ints[BYTES],
            acked_seq=ints[SEQ],
            next_seq=ints[NEXT_SEQ],
            inflight=ints[INFLIGHT],
            rtt=floats[RTT],
            ce_packets=ints[CE],
            cnps=ints[CNPS],
            lost_packets=ints[LOST],
            timeouts=ints[TIMEOUTS],
            int_stack=_stack(ints, floats) if self.with_int else None,
        )

    def stack(self, rows: int) -> IntStack | None:
        """INT of the first rows, where there is any."""
        return _stack(self.ints[:, :rows], self.floats[:, :rows]) if self.with_int else None


def _stack(ints: Ints, floats: Floats) -> IntStack:
    """One hop."""
    ts, tx_bytes, queue, rate = floats[TS:MARKED_SHARE, :, None]
    return IntStack(ints[HOPS], ints[NODE][:, None], ts, tx_bytes, queue, rate)
