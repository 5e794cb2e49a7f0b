"""The independent counts of one run that the invariants compare, taken when all queues have drained.

Four parties count on their own: agents (what they sent and read), the senders' NICs, the receivers' NICs, and the
switch ports. Columns have one entry per flow, shape (n,), or per port, shape (p,).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from testbed.agent.identity import Identity
from testbed.base.arrays import Floats, Ints


@dataclass(frozen=True)
class FlowCounts:
    """Packets per flow."""

    src_port: Ints  # position of the switch port that leads to the sending host, if that has a bond to its first NIC
    dst_port: Ints
    alike: Ints  # number of the group of flows that should fare alike (`gather.alike`), or -1
    agent_sent: Ints
    agent_acked: Ints
    agent_cnps: Ints
    agent_ce: Ints
    nic_sent: Ints  # counted where packets leave the sender
    lost: Ints  # of these, by the link of its host
    answers_lost: Ints  # of what its receiver sent, likewise
    nic_acks: Ints  # ACKs that came back to the sender's NIC
    nic_cnps: Ints
    nic_ce: Ints  # ... with a CE echo
    received: Ints  # data counted by the receiver's NIC
    answered: Ints  # ACKs and NAKs that it made
    received_ce: Ints
    sent_ce: Ints  # of those that were received, how many their sender had marked
    cnps_made: Ints
    ring_full: Ints  # feedback lost to a full ring
    unread: Ints  # feedback that the agent had not read when it ended


@dataclass(frozen=True)
class PortCounts:
    """Packets per switch port."""

    name: list[str]
    enqueued: Ints
    marked: Ints
    dropped: Ints  # by the buffer limit and by the loss model; also losses on a link that was down
    tx_bytes: Floats
    rate: Floats  # bit/s
    switch: list[str]
    far: Ints  # position of the port at the other end of the link; -1 where a host is
    arrived: Ints  # there
    bond: Ints | None = (
        None  # position of the port to the first NIC of a host's bond, of others their own; None: no bonds
    )
    entered: Ints | None = None  # where flows change their NICs: packets that came into the switch from the other end

    def joined(self, column: Ints) -> Ints:
        """A column of ports in which the first one of a bond has what all of it have."""
        if self.bond is None:
            return column
        return np.bincount(self.bond, column, len(column)).astype(np.int64)


@dataclass(frozen=True)
class PauseCounts:
    """Priority flow control, per switch port."""

    residual: Ints  # bytes that are still accounted to the ingress port
    overrun: Ints  # packets dropped despite PFC: the headroom was too small
    sent: Ints  # pause frames: by the port, and by a slow host
    received: Ints  # at the other end
    unsignalled: Ints  # crossings of xoff or xon that found no room in the ring
    resumed: NDArray[np.bool_]  # whether neither end is paused


@dataclass(frozen=True)
class SrcCounts:
    """Bolt's SRCs, which ports send: per flow, and per port."""

    agent_read: Ints
    nic_received: Ints
    made: Ints  # for each flow, by all ports
    asked: Ints  # per port: by its queue
    sent: Ints  # per port


@dataclass(frozen=True)
class CreditCounts:
    """Credits that receivers sent, per flow."""

    made: Ints
    nic_received: Ints  # by the senders' NICs


@dataclass(frozen=True)
class AppCounts:
    """Where apps send as well, which nobody counts per flow."""

    entered: Ints | None  # all packets that came into a switch, per port; None with netem, which hides them


@dataclass(frozen=True)
class RecoveryCounts:
    """Where packets are sent again under their numbers, per flow. Receivers count what they do with them."""

    delivered: Ints  # packets, and ...
    delivered_bytes: Ints  # ... their payload
    duplicates: Ints  # came again
    discarded: Ints  # came after a missing one, and were not kept
    expected: Ints  # the next number that a receiver has not got, modulo 2^24
    kept: Ints  # packets behind it
    payload: Ints  # bytes of the first `delivered` packets
    naks: Ints  # made
    overtaken: Ints  # packets that were asked for, and had only been overtaken
    trims: Ints  # packets of which only the headers came: as many NACKs
    marks: Ints  # CE marks that no answer has told yet
    agent_expected: Ints
    agent_payload: Ints  # bytes that agents know to have arrived
    agent_naks: Ints
    agent_trims: Ints
    trimmed: int  # packets, by all ports
    trims_dropped: int  # whose headers found no room either
    one_path: bool  # of each flow: nothing overtakes anything


@dataclass(frozen=True)
class Counts:
    """Everything that is compared."""

    flows: FlowCounts
    ports: PortCounts
    duration: float  # s, of the run and of draining
    loaded_plugins: list[Identity]  # of each agent its controllers
    wanted: list[Identity]
    int_faults: int  # INT records out of path order, or going back in time or bytes
    queue_difference: float  # bytes, largest difference of a port's virtual queue and its shaper's backlog
    queue_tolerance: float  # bytes: a burst
    pauses: PauseCounts | None = None  # with priority flow control
    srcs: SrcCounts | None = None  # with Bolt
    credits: CreditCounts | None = None  # where receivers grant what is sent
    recovery: RecoveryCounts | None = None  # with go-back-N and selective repeat
    apps: AppCounts | None = None  # where there are any

    def excused(self, before: PauseCounts | None, *, stuck: bool, defied: bool) -> Counts:
        """No headroom is for what is let go after a deadlock, nor for what is sent in spite of pauses.

        ``before``: what pauses had counted until it was let go.
        """
        if not self.pauses or not (stuck or defied):
            return self
        overrun = 0 * self.pauses.overrun if defied or not before else before.overrun
        return replace(self, pauses=replace(self.pauses, overrun=overrun))
