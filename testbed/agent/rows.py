"""What came back since it was last asked for, as C gathers it: a row per flow (feedback.c)."""

from __future__ import annotations

import numpy as np

from testbed.agent.memory import Memory
from testbed.agent.structs import HOPS, ROWS, CDatapath
from testbed.base.arrays import Ints
from testbed.controller import Feedback, IntStack
from testbed.dataplane.wire import MAX_HOPS


class Rows:
    """Room for ``n`` rows of a datapath."""

    def __init__(self, n: int, c: CDatapath, memory: Memory) -> None:
        self._rows = np.zeros((len(ROWS) + 1, n), np.int64)  # one array, for one copy; the RTT is its last row
        self.taken: Ints = self._rows[:, :0]  # columns of the last `take`
        for name, row in zip(ROWS, self._rows[:-1], strict=True):
            memory.point(c, name, row)
        memory.point(c, "row_rtt", self._rows[-1].view(np.float64))
        self._node = memory.point(c, "hop_node", np.zeros((n, MAX_HOPS), np.int64))
        self._hops = {name: memory.point(c, name, np.zeros((n, MAX_HOPS))) for name in HOPS[1:]}
        memory.point(c, "seen_node", np.full((n, MAX_HOPS), -1))
        memory.point(c, "seen_ts", np.full((n, MAX_HOPS), -np.inf))
        memory.point(c, "seen_tx", np.full((n, MAX_HOPS), -np.inf))
        self._none = np.zeros(n, np.int64)
        self._none.flags.writeable = False

    def take(self, k: int, want_int: bool) -> tuple[Ints, Feedback] | None:
        """Copies of the first ``k``: flows, and what they are told; None if there are none."""
        if not k:
            return None
        self.taken = self._rows[:, :k].copy()
        flow, acked, sizes, ce, inc, cnps, lost, hops, last, following, inflight, rtt = self.taken
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
