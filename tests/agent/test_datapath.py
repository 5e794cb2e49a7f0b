"""When the datapath sends, against the schedule that it should keep, to the packet.

Time is given in slots: what a full packet takes at line rate. Packets travel through real sockets.
"""

from __future__ import annotations

import os
import time
from collections import Counter

import numpy as np
import pytest

from testbed.clock import Clock
from tests.support.agents import DILATION, SEGMENT, SLOT, Bench


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


@SEGMENT
def test_what_the_shaper_has_not_sent_holds_new_packets_back(segment: bool) -> None:
    """It sends nine tenths of what it was asked for: no more than its bucket and a packet ever waits in there."""
    with Bench(hosts=(0, 1), bucket=2, segment=segment) as bench:
        bench.start(1.0)
        left, sent = bench.arrivals["bytes"][bench.uplink :], Counter[int]()
        for now in np.arange(0.5, 1000, 1.0):
            sent.update(packet.flow for packet in bench.at(float(now)))
            left[0] = min(sent[0] * bench.wire_size, left[0] + 0.9 * bench.wire_size)
            left[1] = sent[1] * bench.wire_size
            assert sent[0] * bench.wire_size - left[0] < 3.1 * bench.wire_size
        assert sent[0] == pytest.approx(900, abs=5)
        assert sent[1] == 1000
        assert bench.datapath.given_up / SLOT == pytest.approx(100, abs=5)  # the tenth, of the worse of both hosts


def test_short_packets_leave_nothing_behind_in_the_shaper() -> None:
    """200 flows of a packet and a half: their bytes are counted as they are."""
    with Bench(hosts=(0,) * 200, bucket=0, size=150) as bench:
        bench.start(1.0)
        sent = 0
        for now in np.arange(0.5, 1000, 1.0):
            for packet in bench.at(float(now)):
                bench.arrivals["bytes"][bench.uplink] += packet.size
                sent += 1
        assert sent == 400


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
        bench.read_feedback(121)
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
        bench.read_feedback(11)
        bench.change(11 * SLOT)
        assert [len(bench.at(now)) for now in (11.5, 12.5)] == [1, 0]


def test_rate_holds_below_one_packet_of_window() -> None:
    """Swift at large incasts: a window of less than a packet, and a rate to match."""
    with Bench() as bench:
        bench.start(share=0.01, window=0.5)
        bench.at(0.5)
        bench.ack(0)
        bench.read_feedback(5)
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


def test_a_flow_that_changes_its_host_shares_that_ones_line() -> None:
    """Wherever it waits: first, last, or as the only one."""
    with Bench(hosts=(0, 0, 0, 1)) as bench:
        bench.start()
        bench.at(0.5)
        for flow in (0, 2):
            bench.datapath.move(flow, 1, int(bench.sockets.fds[flow]))
        counts = Counter(packet.flow for now in range(1, 301) for packet in bench.at(now + 0.5))
        assert [counts[flow] for flow in range(4)] == [100, 300, 100, 100]
        bench.datapath.move(1, 1, int(bench.sockets.fds[1]))
        counts = Counter(packet.flow for now in range(301, 701) for packet in bench.at(now + 0.5))
        assert [counts[flow] for flow in range(4)] == [100, 100, 100, 100]
        bench.datapath.move(3, 0, int(bench.sockets.fds[3]))
        counts = Counter(packet.flow for now in range(701, 1001) for packet in bench.at(now + 0.5))
        assert [counts[flow] for flow in range(4)] == [100, 100, 100, 300]


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


# -- the end of a flow ----------------------------------------------------------------------------------------------


def test_finished_is_when_the_last_acknowledgement_was_due() -> None:
    with Bench(size=300, held=2 * SLOT) as bench:
        bench.start()
        for now in range(4):
            bench.at(now + 0.5)
        bench.ack(0, rx=5.0)
        bench.ack(1, rx=6.0)
        bench.read_feedback(50)
        assert np.isnan(bench.flows.finished[0])
        bench.ack(2, rx=7.0)
        bench.read_feedback(50)
        assert bench.flows.finished[0] == pytest.approx(9 * SLOT)
        assert bench.flows.acked_payload[0] == 300


def test_a_flow_with_a_lost_packet_is_not_finished() -> None:
    with Bench(size=300) as bench:
        bench.start()
        for now in range(4):
            bench.at(now + 0.5)
        bench.ack(0, 2)
        bench.read_feedback(5)
        bench.change(5 * SLOT)
        assert np.isnan(bench.flows.finished[0])
        assert len(bench.at(6.5)) == 1  # the retransmission, with a number of its own
        assert bench.flows.sent[0] == 4
        bench.ack(3, rx=8.0)
        bench.read_feedback(9)
        assert bench.flows.finished[0] == pytest.approx(8 * SLOT)
        assert bench.flows.acked_payload[0] == 300


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
            assert bench.datapath.c.agenda.length <= 3 + 2
        assert Counter(packet.flow for packet in bench.at(1002.5)) == {0: 1, 1: 1, 2: 1}


def test_many_new_times_do_not_fill_the_heap() -> None:
    with Bench(hosts=(0, 0, 1)) as bench:
        bench.start(share=0.001)
        bench.at(5.5)
        chosen = np.random.default_rng(7)
        for _ in range(3000):
            bench.flows.rate[:] = chosen.uniform(0.001, 0.01, 3) * bench.line_rate
            bench.change(6 * SLOT)
            assert bench.datapath.c.agenda.length <= 3 + 2
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
        bench.datapath.send_until(until)
        sent, now = len(bench.arrived()), clock.now()
        assert now >= until
        assert 21 <= sent <= int(now / gap) + 1
        assert bench.lags.pacing.counts.sum() <= sent


def test_pace_returns_when_the_ring_wakes_it() -> None:
    readable, writer = os.pipe()
    with Bench() as bench:
        bench.datapath.c.wake_by_ring, bench.datapath.c.ring_fd = 1, readable
        bench.datapath.begin(clock := Clock(DILATION, time.monotonic_ns()))
        os.write(writer, b"x")
        bench.datapath.send_until(10.0 / DILATION)
        assert clock.now() < 10.0 / DILATION
    os.close(readable)
    os.close(writer)
