"""Flow state as numpy columns in memory that agents and the recorder share.

An agent writes the columns of its own flows; the recorder reads all of them while the run goes on, and still has them
when an agent has died. Nominal units throughout.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from testbed.agent.histogram import OCTAVES
from testbed.base.arrays import Floats, Ints
from testbed.base.shared import Shared

ENDLESS = 1 << 60  # packets still to send of an endless flow
RTT_BINS_PER_OCTAVE = 2  # of each flow's histogram
RTT_BINS = OCTAVES * RTT_BINS_PER_OCTAVE  # as FLOW_RTT_BINS in datapath.h
FLOW = np.dtype(
    [
        *((name, "<f8") for name in ("rate", "window", "slot", "last", "next")),
        *((name, "<i8") for name in ("sent", "inflight", "to_send")),
        *((name, "<i8") for name in ("host", "fd", "queued", "started", "after", "sent_now", "short_at", "short_size")),
        *((name, "<i8") for name in ("expected", "row", "acked", "acked_payload", "acked_wire")),
        *((name, "<f8") for name in ("last_feedback", "rtt", "rtt_sum", "finished")),
        *((name, "<i8") for name in ("ce", "lost", "late", "cnps", "hops", "rerouted", "bin")),
        *((name, "<i8") for name in ("opener", "before", "sent_before", "newest", "next_pair")),
        *((name, "<i8") for name in ("again", "naks", "covered", "trims")),
    ]
)
"""struct flow of datapath.h."""


class Flows:
    """All flows of the rack, shape (n,) per column, ordered by source host.

    Most are fields of ``state``, a `FLOW` per flow. Its other fields are the agent's own.
    """

    def __init__(self, n: int) -> None:
        state, rtt_counts = Shared.records(FLOW, n), Shared.ints(n, RTT_BINS)
        state["window"] = np.inf
        state["rtt"] = state["finished"] = np.nan
        self._show(state, rtt_counts, Shared.floats(n, fill=np.inf), Shared.ints(n), Shared.ints(n))

    def _show(self, state: NDArray[np.void], rtt_counts: Ints, start: Floats, timeouts: Ints, srcs: Ints) -> None:
        self.state = state
        self.rate: Floats = state["rate"]  # bit/s, decided by the controller
        self.window: Floats = state["window"]  # bytes, decided by the controller
        self.rtt: Floats = state["rtt"]  # s, newest sample
        self.rtt_sum: Floats = state["rtt_sum"]  # s, of all acknowledged packets
        self.rtt_counts = rtt_counts  # of all samples, (n, RTT_BINS), bins as in `testbed.agent.histogram`
        self.start = start  # s; inf until it is known
        self.finished: Floats = state["finished"]  # s, when the last packet was acknowledged
        self.sent: Ints = state["sent"]  # packets; also the next packet number
        self.again: Ints = state["again"]  # packets sent besides, under numbers that had been sent before
        self.naks: Ints = state["naks"]  # where packets are sent again under their numbers
        self.trims: Ints = state["trims"]  # packets of which only headers came; a NACK of each was read
        self.expected: Ints = state["expected"]  # number of the oldest packet that may not have arrived
        self.acked: Ints = state["acked"]
        self.covered: Ints = state["covered"]  # of these, less one for each answer that was read
        self.acked_payload: Ints = state["acked_payload"]  # bytes
        self.acked_wire: Ints = state["acked_wire"]  # bytes
        self.lost: Ints = state["lost"]  # packets declared lost
        self.late: Ints = state["late"]  # packets acknowledged after that
        self.timeouts = timeouts
        self.cnps: Ints = state["cnps"]
        self.srcs = srcs  # notices of Bolt's switches
        self.ce: Ints = state["ce"]
        self.inflight: Ints = state["inflight"]  # packets
        self.to_send: Ints = state["to_send"]  # packets, retransmissions included
        self.rerouted: Ints = state["rerouted"]  # changes of the rack's routes so far; the run writes them

    def __len__(self) -> int:
        return len(self.state)

    def columns(self) -> dict[str, NDArray[Any]]:
        """All columns by name."""
        return {name: column for name, column in vars(self).items() if name != "state"}

    def part(self, low: int, high: int) -> Flows:
        """The same memory, flows low .. high - 1 only."""
        part = Flows.__new__(Flows)
        own = slice(low, high)
        part._show(self.state[own], self.rtt_counts[own], self.start[own], self.timeouts[own], self.srcs[own])
        return part
