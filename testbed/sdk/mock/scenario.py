"""What the mock data path simulates, and what it hands back."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from testbed.base.arrays import Floats


@dataclass(frozen=True)
class Scenario:
    """What is simulated, in SI units. The defaults are those of HPCC's simulations: 25 Gbit/s, 13 us.

    The thresholds fit that port: marks begin at a fifth of its BDP of 40.6 kB, and two of them are the most that ECN
    lets stand in the queue. SECN2, at 2.5 to 10 BDPs, would let windows of several BDPs pass as settled.
    """

    flows: int = 1
    duration: float = 2e-3
    start_gap: float = 0.0  # s between the starts of two flows
    line_rate: float = 25e9  # bit/s of every host and of the port
    base_rtt: float = 13e-6
    buffer: float = 1e6
    red: tuple[float, float, float] = (8e3, 80e3, 0.2)  # Kmin, Kmax, Pmax
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
    scenario: Scenario

    def asked(self) -> Floats:
        """What all flows together want to send, bit/s, shape (t,): rates, or windows per RTT where they are less.

        The RTT is that of a queue as long as ECN lets it stand, for there it is meant to be. Of a longer queue it would
        hide that the windows do not react: the more of them are in the queue, the longer the RTT is.
        """
        scenario = self.scenario
        standing = np.minimum(self.queue, scenario.red[1]) * 8 / scenario.line_rate
        per_rtt = 8 * self.window / (scenario.base_rtt + standing)[:, None]
        asked: Floats = np.minimum(self.rate, per_rtt).sum(axis=1)
        return asked

    def growth(self, column: str, start: float, end: float = math.inf) -> Floats:
        """How much a counter grew per second between the samples of two times."""
        first, last = np.searchsorted(self.time, start), np.searchsorted(self.time, end, side="right") - 1
        values = getattr(self, column)
        grown: Floats = (values[last] - values[first]) / (self.time[last] - self.time[first])
        return grown
