"""The datapath against the schedule that it should keep, to the packet.

Time is given in slots: what a full packet takes at line rate. Packets travel through real sockets.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from testbed.clock import Clock
from testbed.dataplane import wire
from testbed.errors import TestbedError
from tests.agent.bench import DILATION, SLOT, Bench, FakeRing

SEGMENT = pytest.mark.parametrize("segment", [True, False], ids=["segmented", "single"])


def wakeups(seed: int, until: float, longest: float) -> list[float]:
    """Times at which an agent wakes up, at random; never on a packet's own time."""
    chosen = np.random.default_rng(seed)
    times = np.cumsum(chosen.uniform(0.01, longest, round(4 * until / longest)))
    return [*times[times < until].tolist(), until]


# -- rate -----------------------------------------------------------------------------------------------------------


@SEGMENT
@pytest.mark.parametrize("share", [1.0, 0.37, 0.011])
def test_rate_is_exact_however_late_the_agent_wakes_up(share: float, segment: bool) -> None:
    """Packet k is due at k / rate. Waking up late delays packets, but never changes how many are sent in the end."""
    with Bench(segment=segment) as bench:
        bench.start(share)
        sent = 0
        for now in wakeups(1, 500.5, 9.0):
            sent += len(bench.at(now))
            assert sent == int(now * share) + 1


@SEGMENT
@pytest.mark.parametrize("burst", [2, 4, 16])
def test_bursts_do_not_change_the_rate(burst: int, segment: bool) -> None:
    """``burst`` packets back to back, then as long a pause as they are worth."""
    with Bench(burst=burst, segment=segment) as bench:
        bench.start(0.25)
        sent = 0
        for now in np.arange(0.5, 1000, 1.0):
            sent += len(bench.at(float(now)))
            assert sent == burst * (int(now * 0.25 / burst) + 1)


@SEGMENT
def test_answers_of_the_nic_share_the_line_with_the_hosts_own_data(segment: bool) -> None:
    """A NIC that answers with a tenth of a packet per slot leaves nine tenths; other hosts have all of theirs."""
    with Bench(hosts=(0, 1), segment=segment) as bench:
        bench.start(1.0)
        sent = Counter[int]()
        for now in np.arange(0.5, 1000, 1.0):
            bench.arrivals["answered"][0] += bench.wire_size // 10
            sent.update(packet.flow for packet in bench.at(float(now)))
        assert sent[0] == pytest.approx(900, abs=10)
        assert sent[1] == 1000


def test_new_rate_counts_from_the_last_departure() -> None:
    with Bench() as bench:
        bench.start(0.1)
        assert len(bench.at(0.5)) == 1
        bench.flows.rate[0] = 0.5 * bench.line_rate
        bench.change(1.0 * SLOT)
        assert [len(bench.at(now)) for now in (1.9, 2.1, 3.9, 4.1)] == [0, 1, 0, 1]
        bench.flows.rate[0] = 0.05 * bench.line_rate
        bench.change(4.2 * SLOT)
        assert [len(bench.at(now)) for now in (23.9, 24.1)] == [0, 1]


def test_faster_rate_does_not_pay_for_the_past() -> None:
    """The old rate ruled until now: a packet that the new rate would have sent long ago leaves now, once."""
    with Bench() as bench:
        bench.start(0.01)
        bench.at(0.5)
        bench.flows.rate[0] = bench.line_rate
        bench.change(50.0 * SLOT)
        assert [len(bench.at(now)) for now in (50.5, 51.5, 52.5)] == [1, 1, 1]


def test_catching_up_ends_at_the_credit() -> None:
    """A gap longer than the credit is lost: 10 slots of it are made up for, not 100."""
    with Bench(credit=10.2 * SLOT) as bench:
        bench.start()
        assert len(bench.at(0.5)) == 1
        assert len(bench.at(8.5)) == 8
        assert len(bench.at(108.5)) == 11
        assert len(bench.at(118.4)) == 10


def test_catching_up_with_more_than_one_call_takes() -> None:
    """64 segments, or 64 KB: the kernel takes no more at once."""
    with Bench(payload=1024, int_hops=1, credit=1.0) as bench:
        bench.start()
        assert [len(bench.at(now)) for now in (0.5, 150.5, 250.5, 300.5)] == [1, 150, 100, 50]
        assert bench.datapath.refused == 0


@pytest.mark.parametrize("payload", [1024, 4096, 8000])
def test_catching_up_with_large_packets(payload: int) -> None:
    """60 packets of 4 KB do not fit into one datagram, which ends at 64 KB."""
    with Bench(payload=payload) as bench:
        bench.start()
        bench.at(0.5)
        bench.at(70.5)
        assert bench.flows.sent[0] == 71
        assert bench.datapath.refused == 0


# -- window ---------------------------------------------------------------------------------------------------------


def test_window_closes_and_opens() -> None:
    with Bench() as bench:
        bench.start(window=5.9)
        assert [len(bench.at(now + 0.5)) for now in range(8)] == [1] * 5 + [0] * 3
        assert bench.flows.inflight[0] == 5
        bench.ack(0, 1)
        bench.digest(121)
        bench.change(121 * SLOT)
        assert sum(len(bench.at(121.5 + i)) for i in range(20)) == 2
        assert bench.flows.inflight[0] == 5


def test_a_closed_window_saves_up_no_credit() -> None:
    """When it opens, packets leave at the rate, not all at once."""
    with Bench() as bench:
        bench.start(window=2)
        bench.at(0.5), bench.at(1.5)
        bench.flows.window[0] = np.inf
        bench.change(500 * SLOT)
        assert [len(bench.at(500.5 + i)) for i in range(5)] == [1] * 5


@pytest.mark.parametrize("window", [1e-9, 0.5, 0.999])
def test_with_nothing_in_flight_one_packet_always_leaves(window: float) -> None:
    with Bench() as bench:
        bench.start(window=window)
        assert [len(bench.at(now)) for now in (0.5, 10.5)] == [1, 0]
        bench.ack(0)
        bench.digest(11)
        bench.change(11 * SLOT)
        assert [len(bench.at(now)) for now in (11.5, 12.5)] == [1, 0]


def test_rate_holds_below_one_packet_of_window() -> None:
    """Swift at large incasts: a window of less than a packet, and a rate to match."""
    with Bench() as bench:
        bench.start(share=0.01, window=0.5)
        bench.at(0.5)
        bench.ack(0)
        bench.digest(5)
        bench.change(5 * SLOT)
        assert [len(bench.at(now)) for now in (99.5, 100.5)] == [0, 1]


def test_flow_that_has_not_started_is_silent() -> None:
    with Bench(hosts=(0, 0)) as bench:
        bench.flows.rate[:] = bench.line_rate
        bench.datapath.started[1] = 1
        bench.change(0.0)
        assert {packet.flow for now in range(10) for packet in bench.at(now + 0.5)} == {1}


# -- flows of one host ----------------------------------------------------------------------------------------------


def test_flows_take_turns_at_line_rate() -> None:
    with Bench(hosts=(0, 0, 0, 0)) as bench:
        bench.start()
        order = [packet.flow for now in range(400) for packet in bench.at(now + 0.5)]
        assert len(order) == 400
        assert set(Counter(order).values()) == {100}
        assert order == order[:4] * 100


def test_turns_are_fair_when_the_agent_is_late() -> None:
    with Bench(hosts=(0, 0, 0, 0)) as bench:
        bench.start()
        order = [packet.flow for now in wakeups(2, 4000.5, 12.0) for packet in bench.at(now)]
        assert len(order) == 4001  # the line is full
        counts = Counter(order)
        assert max(counts.values()) - min(counts.values()) < 0.05 * 1000


def test_hosts_do_not_wait_for_each_other() -> None:
    with Bench(hosts=(0, 0, 1, 2, 2, 2)) as bench:
        bench.start()
        counts = Counter(packet.flow for now in range(600) for packet in bench.at(now + 0.5))
        assert [counts[flow] for flow in range(6)] == [300, 300, 600, 200, 200, 200]


@pytest.mark.parametrize("late", [1.0, 7.0])
def test_a_slow_flow_is_not_starved_and_the_line_stays_full(late: float) -> None:
    """It waits for at most one packet of each of the others per packet of its own."""
    with Bench(hosts=(0, 0, 0)) as bench:
        bench.start()
        bench.flows.rate[1] = 0.1 * bench.line_rate
        bench.change(0.0)
        times = np.arange(0.5, 2000, 1.0) if late == 1.0 else wakeups(3, 2000.5, late)
        counts = Counter(packet.flow for now in times for packet in bench.at(float(now)))
        assert sum(counts.values()) >= 1999
        assert 2000 / (10 + 2 + late) <= counts[1] <= 201
        assert abs(counts[0] - counts[2]) <= 0.03 * 2000


def test_flows_that_fit_into_the_line_keep_their_rates() -> None:
    """10, 20 and 30 %: nobody gets more, and waiting for others costs at most one slot per packet."""
    with Bench(hosts=(0, 0, 0)) as bench:
        shares = np.array([0.1, 0.2, 0.3])
        bench.start()
        bench.flows.rate[:] = shares * bench.line_rate
        bench.change(0.0)
        counts = Counter(packet.flow for now in np.arange(0.25, 3000, 0.5) for packet in bench.at(float(now)))
        for flow, share in enumerate(shares):
            assert 3000 / (1 / share + 1) <= counts[flow] <= 3000 * share + 1


def test_line_rate_is_never_exceeded() -> None:
    """Departures of a host on their ideal schedule are one slot apart, whatever flows ask for."""
    with Bench(hosts=(0, 0, 0)) as bench:
        bench.start()
        chosen = np.random.default_rng(5)
        sent = 0
        for now in np.arange(0.25, 1000, 0.5):
            bench.flows.rate[:] = chosen.uniform(0.05, 1.0, 3) * bench.line_rate
            bench.change(float(now) * SLOT)
            sent += len(bench.at(float(now)))
            assert sent <= now + 2


@SEGMENT
def test_flows_that_are_late_together_send_each_its_own_packet(segment: bool) -> None:
    """300 flows of 2 hosts, all due before the agent wakes up: more than one call takes, in one wake-up."""
    with Bench(hosts=(0,) * 150 + (1,) * 150, first=7, segment=segment) as bench:
        bench.start(share=0.001)
        flows = [packet.flow for packet in bench.at(500.5)]
        assert sorted(flows) == list(range(7, 307))
        assert bench.flows.inflight.tolist() == [1] * 300
        assert bench.lags.pacing.counts.sum() == 300
        assert bench.at(999.5) == []
        assert len(bench.at(1150.5)) == 300


@SEGMENT
def test_short_packets_of_many_flows_are_not_mixed_up(segment: bool) -> None:
    """In a call of several packets only the last may be short."""
    with Bench(hosts=(0,) * 20, size=137, segment=segment) as bench:
        bench.start()
        sent = [(packet.flow, packet.payload) for now in (60.5, 61.5, 100.5) for packet in bench.at(now)]
        assert Counter(sent) == Counter((flow, size) for flow in range(20) for size in (100, 37))


def test_what_was_sent_is_reported_once() -> None:
    with Bench(hosts=(0, 1, 1)) as bench:
        bench.start(share=0.5)
        bench.at(4.5)
        flows, packets = bench.datapath.report_sent()
        assert dict(zip(flows.tolist(), packets.tolist(), strict=True)) == dict(enumerate(bench.flows.sent.tolist()))
        assert len(bench.datapath.report_sent()[0]) == 0


# -- the end of a flow ----------------------------------------------------------------------------------------------


@SEGMENT
@pytest.mark.parametrize(
    ("size", "payloads"),
    [(1000, [100] * 10), (1037, [100] * 10 + [37]), (37, [37]), (100, [100]), (101, [100, 1])],
)
def test_last_packet_is_as_short_as_what_is_left(size: int, payloads: list[int], segment: bool) -> None:
    with Bench(size=size, segment=segment) as bench:
        bench.start()
        sent = [packet.payload for now in (0.5, 50.5, 90.5) for packet in bench.at(now)]
        assert sent == payloads
        assert bench.flows.to_send[0] == 0
        assert bench.flows.inflight[0] == len(payloads)


def test_finished_is_when_the_last_acknowledgement_was_due() -> None:
    with Bench(size=300, held=2 * SLOT) as bench:
        bench.start()
        for now in range(4):
            bench.at(now + 0.5)
        bench.ack(0, rx=5.0)
        bench.ack(1, rx=6.0)
        bench.digest(50)
        assert np.isnan(bench.flows.finished[0])
        bench.ack(2, rx=7.0)
        bench.digest(50)
        assert bench.flows.finished[0] == pytest.approx(9 * SLOT)
        assert bench.flows.acked_payload[0] == 300


def test_a_flow_with_a_lost_packet_is_not_finished() -> None:
    with Bench(size=300) as bench:
        bench.start()
        for now in range(4):
            bench.at(now + 0.5)
        bench.ack(0, 2)
        bench.digest(5)
        bench.change(5 * SLOT)
        assert np.isnan(bench.flows.finished[0])
        assert len(bench.at(6.5)) == 1  # the retransmission, with a number of its own
        assert bench.flows.sent[0] == 4
        bench.ack(3, rx=8.0)
        bench.digest(9)
        assert bench.flows.finished[0] == pytest.approx(8 * SLOT)
        assert bench.flows.acked_payload[0] == 300


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
        bench.ack(0, flow=40, rx=21, tx=10, ce=1)
        bench.ack(1, flow=40, rx=22, tx=13)
        bench.cnp(flow=40)
        bench.ack(2, flow=40, rx=30, tx=15, ce=1, frame=90, payload=12)
        flows, rows = bench.digest(40)
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
        assert bench.digest(41) is None


def test_a_cnp_alone_says_nothing_about_the_rtt() -> None:
    with Bench() as bench:
        sending(bench, 3)
        bench.cnp()
        _, rows = bench.digest(5)
        assert np.isnan(rows.rtt[0])
        assert (rows.cnps[0], rows.acked_packets[0], rows.acked_seq[0]) == (1, 0, -1)


def test_rows_are_copies() -> None:
    """A controller may keep them."""
    with Bench(int_hops=1) as bench:
        sending(bench, 4)
        bench.ack(0, rx=5, tx=1, hops=1)
        _, first = bench.digest(10)
        kept = replace(first)
        bench.ack(1, 2, rx=9, tx=2, hops=1)
        bench.digest(20)
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
        flows, rows = bench.digest(15.6)
        assert (flows.tolist(), rows.rtt.tolist()) == ([1], pytest.approx([3 * SLOT]))
        assert (rows.acked_packets.tolist(), rows.lost_packets.tolist(), bench.datapath.swapped) == ([2], [0], 1)
        assert bench.datapath.next_due() == pytest.approx(18 * SLOT)  # nothing is left of what was taken early
        short.put(bench.record(1, 2, rx=16, tx=15))
        flows, rows = bench.digest(18.1)
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
        assert bench.digest(17.99) is None
        assert bench.flows.inflight[0] == 3
        _, rows = bench.digest(18.01)
        assert rows.rtt == pytest.approx([9 * SLOT])
        assert bench.datapath.next_due() == pytest.approx(19 * SLOT)
        _, rows = bench.digest(20)
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
        _, rows = bench.digest(10)
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
        bench.digest(10)
        assert bench.datapath.int_faults == faults


def test_rows_without_int_say_so() -> None:
    with Bench(hosts=(0, 1), int_hops=1) as bench:
        sending(bench, 3)
        hop = np.zeros(wire.MAX_HOPS, wire.RECORD_HOP)
        hop[0]["queue"] = 77
        bench.ack(0, flow=0, hops=1, hop=hop)
        bench.ack(1, flow=0)  # the newest INT of the batch counts, not the newest packet's lack of it
        bench.ack(0, flow=1)
        flows, rows = bench.digest(10)
        assert flows.tolist() == [0, 1]
        assert rows.int_stack.hops.tolist() == [1, 0]
        assert rows.int_stack.queue[0, 0] == 77


def test_a_gap_is_a_loss() -> None:
    with Bench(size=1000) as bench:
        sending(bench, 6)
        left = int(bench.flows.to_send[0])
        bench.ack(0, 1, 4)
        _, rows = bench.digest(20)
        assert (rows.lost_packets[0], rows.acked_packets[0], rows.acked_seq[0]) == (2, 3, 4)
        assert (bench.flows.lost[0], bench.flows.inflight[0]) == (2, 1)
        assert bench.flows.to_send[0] == left + 2


def test_a_late_acknowledgement_takes_the_loss_back() -> None:
    with Bench(size=1000) as bench:
        sending(bench, 6)
        left = int(bench.flows.to_send[0])
        bench.ack(0, 3)
        bench.digest(20)
        assert bench.flows.lost[0] == 2
        bench.ack(2)
        _, rows = bench.digest(21)
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
        flows, rows = bench.digest(20)
        assert flows.tolist() == [0, 1]
        assert rows.acked_packets.tolist() == [4, 1]
        assert rows.lost_packets.tolist() == [0, 0]
        assert (bench.flows.lost.sum(), bench.flows.late.sum()) == (0, 0)
        assert bench.datapath.swapped == 1
        assert bench.flows.acked.tolist() == [4, 1]
        assert bench.digest(21) is None


def test_swapped_acknowledgement_that_is_not_due_yet_counts_once() -> None:
    with Bench(size=1000, held=5 * SLOT) as bench:
        sending(bench, 6)
        bench.ack(1, rx=10)
        bench.ack(0, rx=11)
        bench.digest(15.5)
        assert bench.flows.acked[0] == 2
        assert bench.digest(17) is None
        assert bench.flows.acked[0] == 2
        bench.ack(2, rx=12)
        bench.digest(18)
        assert (bench.flows.acked[0], bench.flows.lost[0], bench.flows.inflight[0]) == (3, 0, 3)


def test_packet_numbers_wrap() -> None:
    with Bench() as bench:
        start = (3 << 24) - 2
        bench.flows.sent[0] = bench.datapath.expected[0] = start
        sending(bench, 6)
        bench.ack(start, start + 1, start + 2)
        _, rows = bench.digest(20)
        assert (rows.acked_seq[0], rows.next_seq[0], rows.lost_packets[0]) == (start + 2, start + 6, 0)
        bench.ack(start + 5)
        _, rows = bench.digest(21)
        assert (rows.acked_seq[0], rows.lost_packets[0], bench.flows.inflight[0]) == (start + 5, 2, 0)
        bench.ack(start + 3)
        bench.digest(22)
        assert (bench.flows.late[0], bench.flows.lost[0]) == (1, 1)


def test_loss_over_the_wrap() -> None:
    with Bench() as bench:
        start = (1 << 24) - 2
        bench.flows.sent[0] = bench.datapath.expected[0] = start
        sending(bench, 6)
        bench.ack(start + 4)
        _, rows = bench.digest(20)
        assert (rows.acked_seq[0], rows.lost_packets[0], bench.flows.inflight[0]) == (start + 4, 4, 1)


def test_giving_up_declares_everything_lost() -> None:
    with Bench(size=2000) as bench:
        sending(bench, 6)
        bench.ack(0)
        bench.digest(20)
        bench.datapath.give_up(np.array([0]))
        flows = bench.flows
        assert (flows.lost[0], flows.inflight[0], flows.timeouts[0]) == (5, 0, 1)
        assert flows.to_send[0] == 20 - 6 + 5
        bench.change(30 * SLOT)
        assert sum(len(bench.at(30.5 + i)) for i in range(3)) == 3  # in new numbers
        bench.ack(5)  # it was on its way after all
        bench.ack(6)
        _, rows = bench.digest(40)
        assert (rows.acked_packets[0], rows.lost_packets[0], rows.acked_seq[0]) == (2, 0, 6)
        assert (flows.lost[0], flows.late[0], flows.inflight[0]) == (4, 1, 2)


# -- ring -----------------------------------------------------------------------------------------------------------


def test_ring_wraps() -> None:
    """A ring of 20 records, many times over, in batches that do not divide it."""
    with Bench(ring=FakeRing(4096)) as bench:
        bench.start()
        sent = acked = 0
        for turn in range(300):
            sent += len(bench.at(turn * 7 + 6.5))
            bench.ack(*range(acked, sent), rx=turn * 7, tx=turn * 7 - 3)
            _, rows = bench.digest(turn * 7 + 7)
            assert (rows.acked_packets[0], rows.lost_packets[0]) == (sent - acked, 0)
            acked = sent
        assert bench.flows.acked[0] == sent == 2100
        assert bench.datapath.high_water == 7 * 200


def test_a_record_that_is_being_written_is_left_alone() -> None:
    with Bench() as bench:
        sending(bench, 3)
        bench.ack(0)
        unfinished = bench.ring.put(bench.record(psn=1), busy=True)
        bench.ack(2)
        _, rows = bench.digest(10)
        assert rows.acked_packets[0] == 1
        assert bench.digest(11) is None
        bench.ring.finish(unfinished)
        _, rows = bench.digest(12)
        assert (rows.acked_packets[0], rows.lost_packets[0]) == (2, 0)


# -- the heap of events ---------------------------------------------------------------------------------------------


def test_times_that_come_back_do_not_fill_the_heap() -> None:
    """A window that closes and opens again and again asks for the same moment each time."""
    with Bench(hosts=(0, 1, 1)) as bench:
        bench.start(share=0.001)
        assert len(bench.at(1.5)) == 3
        for _ in range(2000):
            bench.flows.window[:] = 1e-9
            bench.change(2 * SLOT)
            bench.flows.window[:] = np.inf
            bench.change(2 * SLOT)
            assert bench.datapath._c.agenda.length <= 3 + 2
        assert Counter(packet.flow for packet in bench.at(1002.5)) == {0: 1, 1: 1, 2: 1}


def test_many_new_times_do_not_fill_the_heap() -> None:
    with Bench(hosts=(0, 0, 1)) as bench:
        bench.start(share=0.001)
        bench.at(5.5)
        chosen = np.random.default_rng(7)
        for _ in range(3000):
            bench.flows.rate[:] = chosen.uniform(0.001, 0.01, 3) * bench.line_rate
            bench.change(6 * SLOT)
            assert bench.datapath._c.agenda.length <= 3 + 2
        bench.flows.rate[:] = 0.01 * bench.line_rate
        bench.change(6 * SLOT)
        assert bench.at(99.5) == []
        assert Counter(packet.flow for packet in bench.at(106.5)) == {0: 1, 1: 1, 2: 1}


# -- on the clock ---------------------------------------------------------------------------------------------------


def test_pace_sends_on_time() -> None:
    """It returns after ``until``: all that was due by then has left, and nothing before its time."""
    with Bench() as bench:
        bench.datapath.begin(clock := Clock(DILATION, time.monotonic_ns()))
        gap = 1e-3 / DILATION  # 1 ms of wall time
        bench.start(share=SLOT / gap)
        until = 20.5 * gap
        bench.datapath.pace(until)
        sent, now = len(bench.arrived()), clock.now()
        assert now >= until
        assert 21 <= sent <= int(now / gap) + 1
        assert bench.lags.pacing.counts.sum() <= sent


def test_pace_returns_when_the_ring_wakes_it() -> None:
    readable, writer = os.pipe()
    with Bench() as bench:
        bench.datapath._c.wake_by_ring, bench.datapath._c.ring_fd = 1, readable
        bench.datapath.begin(clock := Clock(DILATION, time.monotonic_ns()))
        os.write(writer, b"x")
        bench.datapath.pace(10.0 / DILATION)
        assert clock.now() < 10.0 / DILATION
    os.close(readable)
    os.close(writer)


def test_a_socket_that_does_not_work_is_not_silent() -> None:
    with Bench() as bench:
        bench.datapath.begin(Clock(DILATION, time.monotonic_ns()))
        bench.start()
        bench.sockets._sockets[0].close()
        with pytest.raises(TestbedError, match="cannot send: Bad file descriptor"):
            bench.datapath.pace(1e-3 / DILATION)
