"""From the ring buffer to the controller: the delay line, and one row of feedback per flow.

Where the kernel has no netem, a record is handed on ``held`` seconds after it arrived (the delay line), and that time
is part of the RTT; until then it simply stays in the ring. Packets of a flow never overtake each other in the network,
so a gap in the acknowledged packet numbers is a loss. A packet that is acknowledged after it was given up counts as
late, and is not lost.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from testbed.agent.columns import Flows
from testbed.clock import Clock
from testbed.controller import Feedback, Floats, Ints, IntStack
from testbed.dataplane.ring import Ring
from testbed.dataplane.wire import ACK

HALF = 1 << 23  # packet numbers have 24 bits: the nearer half is ahead, the other behind


@dataclass(frozen=True)
class Batch:
    """Feedback that is due now. ``flows`` are numbers within the agent."""

    flows: Ints
    feedback: Feedback
    rtts: Floats  # one sample per acknowledged packet
    waited: Floats  # s that each record waited for the agent after it was due


class Inbox:
    """The feedback of an agent's flows ``first``, ``first + 1``, ..."""

    def __init__(self, ring: Ring, clock: Clock, flows: Flows, *, first: int, held: float, wire_size: int) -> None:
        self.ring = ring
        self.clock = clock
        self.flows = flows
        self.first = first
        self.held = held  # s, delay line
        self.wire_size = wire_size
        self.expected = np.zeros(len(flows), np.int64)  # lowest packet number that is neither acknowledged nor lost

    def next_due(self) -> float:
        """When the oldest waiting feedback is due; inf for none."""
        if not len(self.ring):
            return np.inf
        return self.clock.nominal_from_stamp(self.ring.oldest_stamp()) + self.held

    def collect(self, now: float, want_int: bool) -> Batch | None:
        """What is due by ``now``, one row per flow; None if nothing is."""
        slots = self.ring.waiting()
        arrived = slots["rx_ns"]
        count = int(np.searchsorted(arrived, np.uint64(self.clock.stamp(now - self.held)), side="right"))
        if not count:
            return None
        records = slots[:count].copy()
        self.ring.consume(count)
        return self._digest(now, records, want_int)

    def _digest(self, now: float, records: NDArray[np.void], want_int: bool) -> Batch:
        flow = records["flow"].astype(np.int64) - self.first
        if len(flow) > 1:
            order = flow.argsort(kind="stable")
            records, flow = records[order], flow[order]
            starts = np.flatnonzero(flow[1:] != flow[:-1]) + 1
            starts = np.concatenate(([0], starts))
        else:
            starts = np.zeros(1, np.int64)
        flows = flow[starts]
        single = len(flows) == len(flow)

        def total(column: NDArray[Any]) -> Ints:
            return column if single else np.add.reduceat(column, starts)

        state = self.flows
        is_ack = (records["opcode"] == ACK).astype(np.int64)
        ahead = (records["psn"] - self.expected[flow]) & 0xFFFFFF
        timely = is_ack * (ahead < HALF)
        position = np.where(timely, ahead, -1)
        packets, timely_packets = total(is_ack), total(timely)
        highest = position if single else np.maximum.reduceat(position, starts)
        late = packets - timely_packets
        lost = highest + 1 - timely_packets
        self.expected[flows] += highest + 1

        arrived = self.clock.nominal_from_stamps(records["rx_ns"])
        due = arrived + self.held
        rtt = due - self.clock.nominal_from_stamps(records["tx_ns"])
        if single:
            newest = np.where(is_ack, np.arange(len(flow)), -1)
        else:  # the newest acknowledgement of each flow: the last of its rows that is one
            newest = np.maximum.reduceat(np.where(is_ack, np.arange(len(flow)), -1), starts)
        acked = newest >= 0
        newest_rtt = np.where(acked, rtt[newest], np.nan)
        wire_bytes, payload = total(records["frame"] * is_ack), total(records["payload"] * is_ack)
        ce, cnps = total(records["ce"] * is_ack), total(1 - is_ack)

        state.acked[flows] += packets
        state.acked_wire[flows] += wire_bytes
        state.acked_payload[flows] += payload
        if lost.any() or late.any():
            state.lost[flows] += lost - late
            state.late[flows] += late
            state.to_send[flows] = np.maximum(0, state.to_send[flows] + lost - late)
        state.ce[flows] += ce
        state.cnps[flows] += cnps
        inflight = state.inflight[flows] - (highest + 1)
        state.inflight[flows] = inflight
        state.rtt[flows] = np.where(acked, newest_rtt, state.rtt[flows])

        feedback = Feedback(
            acked_packets=packets,
            acked_bytes=wire_bytes,
            acked_seq=self.expected[flows] - 1,
            next_seq=state.sent[flows],
            inflight=inflight * self.wire_size,
            rtt=newest_rtt,
            ce_packets=ce,
            cnps=cnps,
            lost_packets=lost,
            timeouts=np.zeros(len(flows), np.int64),
            int_stack=self._int_stack(records, newest) if want_int else None,
        )
        return Batch(flows, feedback, rtt[is_ack > 0], now - due)

    def _int_stack(self, records: NDArray[np.void], newest: Ints) -> IntStack:
        chosen = records[newest]
        hops = np.where(newest >= 0, chosen["hops"], 0).astype(np.int64)
        hop = chosen["hop"][:, : max(1, int(hops.max()))]
        return IntStack(
            hops=hops,
            node=hop["node"].astype(np.int64),
            ts=self.clock.nominal_from_stamps(hop["ts_ns"]),
            tx_bytes=hop["tx_bytes"].astype(np.float64),
            queue=hop["queue"].astype(np.float64),
            rate=self.clock.nominal_rate(hop["rate"] * 1e3),
        )

    def give_up(self, flows: Ints) -> Ints:
        """Declare everything in flight of ``flows`` lost (retransmission timeout); returns the packets per flow."""
        state = self.flows
        lost = state.inflight[flows].copy()
        self.expected[flows] = state.sent[flows]
        state.lost[flows] += lost
        state.to_send[flows] += lost
        state.inflight[flows] = 0
        state.timeouts[flows] += 1
        return lost
