"""What the mock data path simulates, and what it hands back."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from testbed.base.arrays import Floats


@dataclass(frozen=True)
class Scenario:
    """What is simulated, in SI units. The defaults are those of HPCC's simulations: 25 Gbit/s, 13 us, SECN2."""

    flows: int = 1
    duration: float = 2e-3
    start_gap: float = 0.0  # s between the starts of two flows
    line_rate: float = 25e9  # bit/s of every host and of the port
    base_rtt: float = 13e-6
    buffer: float = 1e6
    red: tuple[float, float, float] = (100e3, 400e3, 0.2)  # Kmin, Kmax, Pmax
    payload: int = 1000
    wire_size: int = 1100
    poll: float = 0.5e-6  # the agent looks this often: what came back since is one batch
    timeout: float = 400e-6  # retransmission timeout
    lose: float = 0.0  # share of the data packets lost on the wire
    duplicate: float = 0.0  # share of the acknowledgements that come twice
    reorder: float = 0.0  # share of the acknowledgements that come up to one base RTT late
    blackout: tuple[float, float] = (math.inf, math.inf)  # nothing comes back of what is sent in this time
    seed: int = 1


@dataclass
class Trace:
    """What happened: one sample per base RTT. Counters are cumulative, bytes are wire bytes."""

    time: Floats  # shape (t,)
    rate: Floats  # bit/s that the controller set, shape (t, n)
    window: Floats  # bytes
    acked: Floats  # bytes
    sent: Floats  # bytes
    cnps: Floats
    queue: Floats  # bytes half an RTT later, shape (t,): packets on the way to the port are counted already
    area: Floats  # integral of the queue, byte-seconds
    delivered: Floats  # bytes that left the port
    dropped: Floats  # packets
    marked: Floats
    timeouts: Floats
    decisions: str  # digest of every rate, window and timer that was set

    def growth(self, column: str, start: float, end: float = math.inf) -> Floats:
        """How much a counter grew per second between the samples of two times."""
        first, last = np.searchsorted(self.time, start), np.searchsorted(self.time, end, side="right") - 1
        values = getattr(self, column)
        grown: Floats = (values[last] - values[first]) / (self.time[last] - self.time[first])
        return grown
