"""Flow state as numpy columns in memory that agents and the recorder share.

An agent writes the columns of its own flows; the recorder reads all of them while the run goes on, and still has them
when an agent has died. Nominal units throughout.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from testbed.agent.histogram import OCTAVES
from testbed.base.shared import Shared

ENDLESS = 1 << 60  # packets still to send of an endless flow
RTT_BINS_PER_OCTAVE = 2  # of each flow's histogram
RTT_BINS = OCTAVES * RTT_BINS_PER_OCTAVE  # as FLOW_RTT_BINS in datapath.h


class Flows:
    """All flows of the rack, shape (n,) per column, ordered by source host."""

    def __init__(self, n: int) -> None:
        self.rate = Shared.floats(n)  # bit/s, decided by the controller
        self.window = Shared.floats(n, fill=np.inf)  # bytes, decided by the controller
        self.rtt = Shared.floats(n, fill=np.nan)  # s, newest sample
        self.rtt_sum = Shared.floats(n)  # s, of all samples
        self.rtt_counts = Shared.ints(n, RTT_BINS)  # of all samples, bins as in `testbed.agent.histogram`
        self.start = Shared.floats(n, fill=np.inf)  # s; inf until it is known
        self.finished = Shared.floats(n, fill=np.nan)  # s, when the last packet was acknowledged
        self.sent = Shared.ints(n)  # packets; also the next packet number
        self.acked = Shared.ints(n)
        self.acked_payload = Shared.ints(n)  # bytes
        self.acked_wire = Shared.ints(n)  # bytes
        self.lost = Shared.ints(n)  # packets declared lost
        self.late = Shared.ints(n)  # packets acknowledged after that
        self.timeouts = Shared.ints(n)
        self.cnps = Shared.ints(n)
        self.ce = Shared.ints(n)
        self.inflight = Shared.ints(n)  # packets
        self.to_send = Shared.ints(n)  # packets, retransmissions included
        self.rerouted = Shared.ints(n)  # changes of the rack's routes so far; written by the run, not by the agent

    def __len__(self) -> int:
        return len(self.rate)

    def columns(self) -> dict[str, NDArray[Any]]:
        """All columns by name."""
        return dict(vars(self))

    def part(self, low: int, high: int) -> Flows:
        """The same memory, flows low .. high - 1 only."""
        part = Flows.__new__(Flows)
        for name, column in vars(self).items():
            setattr(part, name, column[low:high])
        return part
