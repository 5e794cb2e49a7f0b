"""What a datapath is given: how its flows send, where they do, and where feedback comes from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

from testbed.agent.histogram import TimeHistogram
from testbed.base.arrays import Floats, Ints
from testbed.dataplane.class_rows import group_rows
from testbed.dataplane.wire import PRIORITIES


@dataclass(frozen=True)
class Pauses:
    """The pauses that the NICs have recorded."""

    records: NDArray[np.void]  # of dtype `testbed.dataplane.wire.PAUSE`, of the whole rack
    of_host: Ints  # position of each of the agent's hosts in there; with gates, of each gate
    relook: float  # s, how often a paused host checks whether it may resume
    gate: Ints | None = None  # of each flow; None where hosts are paused as a whole

    @classmethod
    def of_priorities(
        cls, records: NDArray[np.void], interface: Ints, host: Ints, priority: Ints, *, interfaces: int, relook: float
    ) -> Self:
        """Each priority of a host is paused by itself: those of its flows, given with their ``host``."""
        rows = group_rows(interface, range(PRIORITIES), interfaces).reshape(-1)
        return cls(records, rows, relook, host * PRIORITIES + priority)


class Outlets(Protocol):
    """Where flows send; see `testbed.agent.sockets.Sockets`."""

    packet: NDArray[np.uint8]
    fds: Ints
    short_at: Ints
    short_sizes: Ints


class FeedbackRing(Protocol):
    """Where feedback comes from; see `testbed.dataplane.ring.Ring`."""

    fd: int
    size: int

    def addresses(self) -> tuple[int, int, int]: ...


@dataclass(frozen=True)
class DelayRing:
    """A ring buffer, and for how many seconds the delay line delays its records."""

    ring: FeedbackRing
    delay: float


@dataclass(frozen=True)
class Pace:
    """How flows send. Columns have one entry per flow of the agent, in the order of their hosts."""

    host: Ints  # number of the flow's host within the agent
    line_rate: Floats  # bit/s, per flow
    wire_size: int
    payload: int  # of a full packet
    burst: int  # packets that a flow sends back to back
    at_once: int  # packets that the host's shaper lets through together; 0 for any number
    credit: float  # s, how far behind schedule a sender may catch up
    quantum: float  # s, the shortest sleep: packets that are due within it leave together
    hops: Ints  # switches on the way, per flow: INT records that every ACK must carry, if it carries INT
    first: int  # number in the rack of the agent's first flow
    segment: bool  # several packets per system call
    wake_by_ring: bool
    int_on: bool
    arrivals: NDArray[np.void]  # of dtype `testbed.dataplane.wire.ARRIVALS`, of the whole rack
    interface: Ints  # position of each of the agent's hosts in there
    bucket: int = 0  # bytes that a host's shaper may queue without lagging
    uplink: Ints | None = None  # where each host's link ends in ``arrivals``; None if arrivals are not counted there
    pair: Ints | None = None  # number of the two hosts, per flow, whose queue pairs go on; None: one per message
    pauses: Pauses | None = None  # where to look whether a host is paused; None without priority flow control


@dataclass(frozen=True)
class PacingStats:
    """Where the datapath counts its times."""

    rtt: TimeHistogram
    pacing: TimeHistogram
    feedback: TimeHistogram
    timers: TimeHistogram
    messages: TimeHistogram  # from the departure of the first packet to the acknowledgement of the last
    given_up: Floats | None = None  # s of its line, per host, where others read that
