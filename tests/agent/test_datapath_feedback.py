"""What the datapath makes of the records that come back: rows of feedback, INT, losses, the ring that holds them.

Time is given in slots: what a full packet takes at line rate.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from testbed.dataplane import wire
from tests.support.agents import DILATION, SLOT, Bench, FakeRing

# -- feedback -------------------------------------------------------------------------------------------------------


def sending(bench: Bench, packets: int) -> None:
    """Start, and send that many packets of every flow."""
    bench.start(window=packets)
    for now in range(packets * len(bench.hosts) + 1):
        bench.at(now + 0.5)
    assert bench.flows.inflight.tolist() == [packets] * len(bench.hosts)


def test_one_row_per_flow_with_sums_and_the_latest() -> None:
    with Bench(hosts=(0, 0, 1), first=40) as bench:
        sending(bench, 10)
        bench.ack(0, flow=42, rx=20, tx=10)
        bench.ack(0, flow=40, rx=21, tx=10, flags=wire.SHIM_CE)
        bench.ack(1, flow=40, rx=22, tx=13)
        bench.cnp(flow=40)
        bench.ack(2, flow=40, rx=30, tx=15, flags=wire.SHIM_CE, frame=90, payload=12)
        flows, rows = bench.read_feedback(40)
        assert flows.tolist() == [2, 0]
        assert rows.acked_packets.tolist() == [1, 3]
        assert rows.acked_bytes.tolist() == [bench.wire_size, 2 * bench.wire_size + 90]
        assert rows.acked_seq.tolist() == [0, 2]
        assert rows.next_seq.tolist() == [10, 10]
        assert rows.inflight.tolist() == [9 * bench.wire_size, 7 * bench.wire_size]
        assert rows.rtt == pytest.approx([10 * SLOT, 15 * SLOT])
        assert rows.ce_packets.tolist() == [0, 2]
        assert rows.cnps.tolist() == [0, 1]
        assert rows.lost_packets.tolist() == rows.timeouts.tolist() == [0, 0]
        assert rows.int_stack is None
        assert bench.flows.acked.tolist() == [3, 0, 1]
        assert bench.flows.acked_payload.tolist() == [212, 0, 100]
        assert bench.flows.ce.tolist() == [2, 0, 0]
        assert bench.flows.cnps.tolist() == [1, 0, 0]
        assert bench.read_feedback(41) is None


def test_a_cnp_alone_says_nothing_about_the_rtt() -> None:
    with Bench() as bench:
        sending(bench, 3)
        bench.cnp()
        _, rows = bench.read_feedback(5)
        assert np.isnan(rows.rtt[0])
        assert (rows.cnps[0], rows.acked_packets[0], rows.acked_seq[0]) == (1, 0, -1)


def test_rows_are_copies() -> None:
    """A controller may keep them."""
    with Bench(int_hops=1) as bench:
        sending(bench, 4)
        bench.ack(0, rx=5, tx=1, hops=1)
        _, first = bench.read_feedback(10)
        kept = replace(first)
        bench.ack(1, 2, rx=9, tx=2, hops=1)
        bench.read_feedback(20)
        assert kept.rtt == pytest.approx([4 * SLOT])
        assert kept.acked_packets.tolist() == [1]


def test_paths_of_different_length_are_held_for_their_own_time() -> None:
    """What came later over the shorter path is due first, and waits for nobody."""
    short = FakeRing()
    with Bench(hosts=(0, 1), held=8 * SLOT, also=((short, 2 * SLOT),)) as bench:
        sending(bench, 3)
        bench.ack(0, rx=10, tx=9)
        assert bench.datapath.next_due() == pytest.approx(18 * SLOT)
        short.put(bench.record(1, 1, rx=13, tx=12))  # before its turn
        short.put(bench.record(1, 0, rx=13.5, tx=12))
        assert bench.datapath.next_due() == pytest.approx(15 * SLOT)
        flows, rows = bench.read_feedback(15.6)
        assert (flows.tolist(), rows.rtt.tolist()) == ([1], pytest.approx([3 * SLOT]))
        assert (rows.acked_packets.tolist(), rows.lost_packets.tolist(), bench.datapath.swapped) == ([2], [0], 1)
        assert bench.datapath.next_due() == pytest.approx(18 * SLOT)  # nothing is left of what was taken early
        short.put(bench.record(1, 2, rx=16, tx=15))
        flows, rows = bench.read_feedback(18.1)
        assert (flows.tolist(), rows.rtt.tolist()) == ([0, 1], pytest.approx([9 * SLOT, 3 * SLOT]))
        assert bench.datapath.next_due() == np.inf


def test_feedback_is_held_for_the_delay_line() -> None:
    """It is due ``held`` after it arrived, and this time is part of the RTT."""
    with Bench(held=8 * SLOT) as bench:
        sending(bench, 3)
        assert bench.datapath.next_due() == np.inf
        bench.ack(0, rx=10, tx=9)
        bench.ack(1, rx=11, tx=10.5)
        assert bench.datapath.next_due() == pytest.approx(18 * SLOT)
        assert bench.read_feedback(17.99) is None
        assert bench.flows.inflight[0] == 3
        _, rows = bench.read_feedback(18.01)
        assert rows.rtt == pytest.approx([9 * SLOT])
        assert bench.datapath.next_due() == pytest.approx(19 * SLOT)
        _, rows = bench.read_feedback(20)
        assert rows.rtt == pytest.approx([8.5 * SLOT])
        assert bench.lags.rtt.counts.sum() == 2
        edges = bench.lags.rtt.edges
        found = np.flatnonzero(bench.lags.rtt.counts)
        assert found.tolist() == sorted(int(np.searchsorted(edges, rtt * SLOT, side="right")) - 1 for rtt in (8.5, 9))
        assert bench.lags.rtt.top[0] == pytest.approx(9 * SLOT)
        assert bench.lags.rtt.bottom[0] == pytest.approx(8.5 * SLOT)
        assert bench.lags.feedback.top[0] == pytest.approx(1 * SLOT)


def test_int_becomes_nominal() -> None:
    with Bench(int_hops=2) as bench:
        sending(bench, 3)
        hop = np.zeros(wire.MAX_HOPS, wire.RECORD_HOP)
        hop[:2]["ts_ns"] = bench.stamp(7 * SLOT), bench.stamp(8 * SLOT)
        hop[:2]["tx_bytes"] = 1 << 40, 5
        hop[:2]["node"] = 1 << 16 | 3, 2 << 16 | 4
        hop[:2]["queue"] = 12345, 0
        hop[:2]["rate"] = 100_000, 400_000  # kbit/s of wall time
        bench.ack(0, hops=1, hop=hop)
        bench.ack(1, hops=2, hop=hop)
        _, rows = bench.read_feedback(10)
        stack = rows.int_stack
        assert stack is not None
        assert stack.hops.tolist() == [2]
        assert stack.ts[0] == pytest.approx([7 * SLOT, 8 * SLOT])
        assert stack.tx_bytes[0].tolist() == [1 << 40, 5]
        assert stack.node[0].tolist() == [1 << 16 | 3, 2 << 16 | 4]
        assert stack.queue[0].tolist() == [12345, 0]
        assert stack.rate[0] == pytest.approx([100e6 * DILATION, 400e6 * DILATION])


@pytest.mark.parametrize(
    ("change", "faults"),
    [
        ({}, 0),
        ({"ts_ns": -1}, 1),  # time goes back
        ({"tx_bytes": -1}, 1),  # bytes go back
        ({"node": 1}, 1),  # another port
        ({"hops": -1}, 1),  # a switch is missing
    ],
)
def test_int_out_of_order_is_counted(change: dict[str, int], faults: int) -> None:
    with Bench(int_hops=2) as bench:
        sending(bench, 3)
        hop = np.zeros(wire.MAX_HOPS, wire.RECORD_HOP)
        hop[:2]["ts_ns"] = bench.stamp(7 * SLOT), bench.stamp(8 * SLOT)
        hop[:2]["tx_bytes"], hop[:2]["node"] = (50, 60), (3, 4)
        bench.ack(0, hops=2, hop=hop)
        for name, by in change.items():
            if name != "hops":
                hop[0][name] = int(hop[0][name]) + by
        bench.ack(1, hops=2 + change.get("hops", 0), hop=hop)
        bench.read_feedback(10)
        assert bench.datapath.int_faults == faults


def test_int_of_swapped_packets_is_not_out_of_order() -> None:
    """Packets 1 and 2 passed the first switch in this order, and the second in the other: two cores swapped them."""
    with Bench(int_hops=2) as bench:
        sending(bench, 5)
        hop = np.zeros(wire.MAX_HOPS, wire.RECORD_HOP)
        for number, first, second in ((0, 1, 4), (2, 3, 5), (1, 2, 6), (3, 4, 7)):
            hop[:2]["ts_ns"] = bench.stamp(first * SLOT), bench.stamp(second * SLOT)
            bench.ack(number, hops=2, hop=hop)
        bench.read_feedback(10)
        assert (bench.datapath.swapped, bench.datapath.int_faults) == (1, 0)
        hop[1]["ts_ns"] = bench.stamp(6 * SLOT)
        bench.ack(4, hops=2, hop=hop)
        bench.read_feedback(11)
        assert bench.datapath.int_faults == 1


def test_rows_without_int_say_so() -> None:
    with Bench(hosts=(0, 1), int_hops=1) as bench:
        sending(bench, 3)
        hop = np.zeros(wire.MAX_HOPS, wire.RECORD_HOP)
        hop[0]["queue"] = 77
        bench.ack(0, flow=0, hops=1, hop=hop)
        bench.ack(1, flow=0)  # the newest INT of the batch counts, not the newest packet's lack of it
        bench.ack(0, flow=1)
        flows, rows = bench.read_feedback(10)
        assert flows.tolist() == [0, 1]
        assert rows.int_stack.hops.tolist() == [1, 0]
        assert rows.int_stack.queue[0, 0] == 77


def test_a_gap_is_a_loss() -> None:
    with Bench(size=1000) as bench:
        sending(bench, 6)
        left = int(bench.flows.to_send[0])
        bench.ack(0, 1, 4)
        _, rows = bench.read_feedback(20)
        assert (rows.lost_packets[0], rows.acked_packets[0], rows.acked_seq[0]) == (2, 3, 4)
        assert (bench.flows.lost[0], bench.flows.inflight[0]) == (2, 1)
        assert bench.flows.to_send[0] == left + 2


def test_a_late_acknowledgement_takes_the_loss_back() -> None:
    with Bench(size=1000) as bench:
        sending(bench, 6)
        left = int(bench.flows.to_send[0])
        bench.ack(0, 3)
        bench.read_feedback(20)
        assert bench.flows.lost[0] == 2
        bench.ack(2)
        _, rows = bench.read_feedback(21)
        assert (rows.acked_packets[0], rows.lost_packets[0], rows.acked_seq[0]) == (1, 0, 3)
        assert (bench.flows.lost[0], bench.flows.late[0], bench.flows.inflight[0]) == (1, 1, 2)
        assert bench.flows.to_send[0] == left + 1


def test_swapped_acknowledgements_are_not_losses() -> None:
    """Two cores may bring the ring's records out of order: 0 2 1 3 of one flow, another flow's between them."""
    with Bench(hosts=(0, 1), size=1000) as bench:
        sending(bench, 6)
        bench.ack(0, 2, flow=0)
        bench.ack(0, flow=1)
        bench.ack(1, 3, flow=0)
        flows, rows = bench.read_feedback(20)
        assert flows.tolist() == [0, 1]
        assert rows.acked_packets.tolist() == [4, 1]
        assert rows.lost_packets.tolist() == [0, 0]
        assert (bench.flows.lost.sum(), bench.flows.late.sum()) == (0, 0)
        assert bench.datapath.swapped == 1
        assert bench.flows.acked.tolist() == [4, 1]
        assert bench.read_feedback(21) is None


def test_swapped_acknowledgement_that_is_not_due_yet_counts_once() -> None:
    with Bench(size=1000, held=5 * SLOT) as bench:
        sending(bench, 6)
        bench.ack(1, rx=10)
        bench.ack(0, rx=11)
        _, rows = bench.read_feedback(15.5)
        assert rows.acked_packets[0] == 2
        # a run that ends now finds the other one in the ring, as an answer that nobody has read
        assert (bench.flows.acked[0], bench.ring.waiting) == (1, 1)
        assert bench.read_feedback(17) is None
        assert bench.flows.acked[0] == 2
        bench.ack(2, rx=12)
        bench.read_feedback(18)
        assert (bench.flows.acked[0], bench.flows.lost[0], bench.flows.inflight[0]) == (3, 0, 3)


def test_packet_numbers_wrap() -> None:
    with Bench() as bench:
        start = (3 << 24) - 2
        bench.flows.sent[0] = bench.datapath.expected[0] = start
        sending(bench, 6)
        bench.ack(start, start + 1, start + 2)
        _, rows = bench.read_feedback(20)
        assert (rows.acked_seq[0], rows.next_seq[0], rows.lost_packets[0]) == (start + 2, start + 6, 0)
        bench.ack(start + 5)
        _, rows = bench.read_feedback(21)
        assert (rows.acked_seq[0], rows.lost_packets[0], bench.flows.inflight[0]) == (start + 5, 2, 0)
        bench.ack(start + 3)
        bench.read_feedback(22)
        assert (bench.flows.late[0], bench.flows.lost[0]) == (1, 1)


def test_loss_over_the_wrap() -> None:
    with Bench() as bench:
        start = (1 << 24) - 2
        bench.flows.sent[0] = bench.datapath.expected[0] = start
        sending(bench, 6)
        bench.ack(start + 4)
        _, rows = bench.read_feedback(20)
        assert (rows.acked_seq[0], rows.lost_packets[0], bench.flows.inflight[0]) == (start + 4, 4, 1)


def test_giving_up_declares_everything_lost() -> None:
    with Bench(size=2000) as bench:
        sending(bench, 6)
        bench.ack(0)
        bench.read_feedback(20)
        bench.datapath.declare_lost(np.array([0]), 0.0)
        flows = bench.flows
        assert (flows.lost[0], flows.inflight[0], flows.timeouts[0]) == (5, 0, 1)
        assert flows.to_send[0] == 20 - 6 + 5
        bench.change(30 * SLOT)
        assert sum(len(bench.at(30.5 + i)) for i in range(3)) == 3  # in new numbers
        bench.ack(5)  # it was on its way after all
        bench.ack(6)
        _, rows = bench.read_feedback(40)
        assert (rows.acked_packets[0], rows.lost_packets[0], rows.acked_seq[0]) == (2, 0, 6)
        assert (flows.lost[0], flows.late[0], flows.inflight[0]) == (4, 1, 2)


# -- ring -----------------------------------------------------------------------------------------------------------


def test_ring_wraps() -> None:
    """A ring of 13 records, many times over, in batches that do not divide it."""
    with Bench(ring=FakeRing(4096)) as bench:
        bench.start()
        sent = acked = 0
        for turn in range(300):
            sent += len(bench.at(turn * 7 + 6.5))
            bench.ack(*range(acked, sent), rx=turn * 7, tx=turn * 7 - 3)
            _, rows = bench.read_feedback(turn * 7 + 7)
            assert (rows.acked_packets[0], rows.lost_packets[0]) == (sent - acked, 0)
            acked = sent
        assert bench.flows.acked[0] == sent == 2100
        assert bench.datapath.high_water == 7 * (8 + wire.RECORD.itemsize)


def test_a_record_that_is_being_written_is_left_alone() -> None:
    with Bench() as bench:
        sending(bench, 3)
        bench.ack(0)
        unfinished = bench.ring.put(bench.record(psn=1), busy=True)
        bench.ack(2)
        _, rows = bench.read_feedback(10)
        assert rows.acked_packets[0] == 1
        assert bench.read_feedback(11) is None
        bench.ring.finish(unfinished)
        _, rows = bench.read_feedback(12)
        assert (rows.acked_packets[0], rows.lost_packets[0]) == (2, 0)
