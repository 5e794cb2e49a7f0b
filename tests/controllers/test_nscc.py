"""NSCC: every quadrant by hand, with the constants of the facts sheet (more-controllers, 6.1), and where it rests."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from testbed.compiled.flows import CompiledFlows
from testbed.engines.virtual.run import VirtualRun
from testbed.results.summary import Summary
from testbed.runs.overrides import resolve
from testbed.sdk.conformance.trial import Unwatched
from tests.support.rows import ONE, WIRE, controller, feedback, paths
from tests.support.simulated import measured, simulated
from tests.support.theory import LINE, base_rtt
from tests.support.theory import WIRE as PACKET

T = 8e-6
BDP = 100e3
A = BDP / 150e3
B = T / 12e-6
M = 4096
SOON = 0.01 * T  # after the start


def nscc(cwnd: float = BDP, flows: int = 1, **options: Any) -> Any:
    made = controller("nscc", paths(flows), **options)
    made.cwnd[:] = cwnd
    return made


def hear(made: Any, delay: float, packets: int = 1, marked: int = 0, now: float = SOON, **counts: int) -> float:
    """An acknowledgement of a queueing delay in base RTTs; returns the window in bytes."""
    told = feedback(acked_packets=packets, ce_packets=marked, rtt=T * (1 + delay), **counts)
    made.on_feedback(now, ONE, told)
    return float(made.cwnd[0])


def test_starts_with_one_and_a_half_bdp_at_line_rate() -> None:
    made = controller("nscc", paths())
    assert (made.window[0], made.rate[0]) == (1.5 * BDP, 100e9)


def test_proportional_increase_without_delay_is_4_mab_per_rtt() -> None:
    """7.6 kB at 8.192 us; half of it at half the target."""
    assert hear(nscc(), 0.0, packets=100) - BDP == pytest.approx(4 * M * A * B)
    assert hear(nscc(), 0.5, packets=100) - BDP == pytest.approx(4 * M * A * B / 2)


def test_fair_increase_above_the_target_is_5_ma_per_rtt() -> None:
    for delay in (1.0, 3.0):
        assert hear(nscc(), delay, packets=100) - BDP == pytest.approx(5 * M * A)


def test_target_and_increases_are_of_the_network_and_the_window_is_of_the_path() -> None:
    """As in uet-htsim: 0.75 of the longest RTT is below the target, though it is 1.5 base RTTs of half the path."""
    made = controller("nscc", replace(paths(base_rtt=T / 2), longest_rtt=T))
    assert made.cwnd[0] == 1.5 * BDP / 2
    made.cwnd[:] = BDP / 2
    grown = hear(made, 0.25, packets=50) - BDP / 2
    assert grown == pytest.approx(4 * M * A * B / 4)


def test_whatever_comes_a_base_rtt_adds_015_ma() -> None:
    assert hear(nscc(), 0.0, packets=1, marked=1, now=1.01 * T) - BDP == pytest.approx(0.15 * M * A)


def test_increases_wait_for_eight_packets_of_the_reference_network() -> None:
    made = nscc()
    for _ in range(33):
        assert hear(made, 1.0) == BDP
    assert hear(made, 1.0) == pytest.approx(BDP + 5 * M * A * 34 * WIRE / BDP)


def test_a_row_of_n_packets_is_n_rows_of_one() -> None:
    one, many = nscc(), nscc()
    hear(one, 0.5, packets=20)
    for _ in range(20):
        hear(many, 0.5)
    for name in ("increase", "mean_delay", "received"):
        assert getattr(one, name)[0] == pytest.approx(getattr(many, name)[0], rel=1e-9)


def test_after_a_window_without_delay_increase_is_fast() -> None:
    """17 % per RTT at 8 us, until a delay of a twelfth of T is seen."""
    made = nscc(50e3)
    slow = hear(made, 0.0, packets=50)
    fast = hear(made, 0.08, packets=50)
    assert fast - slow == pytest.approx(0.25 * A * 50e3)
    assert hear(made, 0.09, packets=50) - fast < 4 * M * A * B


def test_decrease_is_by_the_mean_excess_once_per_rtt() -> None:
    """A factor of 0.6 at twice the target, and never below a half."""
    for mean, factor in ((2, 0.6), (100, 0.5), (0.9, 1)):
        made = nscc()
        made.mean_delay[:] = mean * T
        assert hear(made, mean if mean > 1 else 1, marked=1) == pytest.approx(factor * BDP, rel=1e-3)
    made = nscc()
    made.mean_delay[:] = 2 * T
    for now in (SOON, 0.5 * T, T):
        assert hear(made, 2.0, marked=1, now=now) == pytest.approx(0.6 * BDP)
    assert hear(made, 2.0, marked=1, now=SOON + 1.01 * T) < 0.4 * BDP


def test_marked_below_the_target_is_no_reason() -> None:
    made = nscc()
    made.mean_delay[:] = 2 * T
    assert hear(made, 0.9, packets=100, marked=100) == BDP


def test_a_row_of_both_is_the_unmarked_share_and_then_the_marked_one() -> None:
    both, apart = nscc(), nscc()
    hear(both, 2.0, packets=10, marked=4)
    hear(apart, 2.0, packets=6)
    hear(apart, 2.0, packets=4, marked=4)
    for name in ("cwnd", "increase", "mean_delay", "achieved"):
        assert getattr(both, name)[0] == pytest.approx(getattr(apart, name)[0])


def test_mean_delay_has_a_gain_per_4096_bytes_and_takes_unmarked_delay_for_a_quarter_rtt() -> None:
    for marked, counted in ((4096, 3 * T), (0, T / 4)):
        made = nscc()
        hear(made, 3.0, packets=4096, marked=marked)
        assert made.mean_delay[0] == pytest.approx((1 - (1 - 0.0125) ** WIRE) * counted)


def test_quick_adapt_takes_what_got_through_and_then_ignores_older_marks() -> None:
    made = nscc()
    hear(made, 0.0)  # an interval of RTT and target begins
    made.on_feedback(T, ONE, feedback(lost_packets=1))
    assert made.cwnd[0] == BDP - WIRE
    hear(made, 2.0, packets=9, marked=9, now=1.5 * T)
    achieved = hear(made, 2.0, packets=1, marked=1, now=2.1 * T, inflight=90 * WIRE)
    assert achieved == 10 * WIRE
    for count in range(89):
        made.mean_delay[:] = 2 * T
        assert hear(made, 2.0, marked=1, now=(3 + 0.1 * count) * T) == achieved
    made.mean_delay[:] = 2 * T
    made.adjusted_at[:] = 20 * T
    assert hear(made, 2.0, marked=1, now=20 * T) == pytest.approx(0.6 * achieved)


def test_a_trimmed_packet_asks_for_quick_adapt_at_once() -> None:
    made = nscc(trimming=True)
    hear(made, 0.0)  # an interval of RTT and target begins
    hear(made, 0.5, packets=4, marked=4, now=1.5 * T, inflight=50 * WIRE)
    made.on_feedback(2.1 * T, ONE, feedback(lost_packets=1))
    assert made.cwnd[0] == 4 * WIRE
    assert made.to_ignore[0] == 50 * WIRE
    made.on_feedback(2.2 * T, ONE, feedback(lost_packets=1))  # once per RTT
    assert made.cwnd[0] == 3 * WIRE
    assert made.ignored[0] == WIRE


def test_quick_adapt_is_not_for_flows_that_deliver() -> None:
    """19 of 150 kB in an interval are enough."""
    made = nscc()
    hear(made, 0.0)
    made.on_feedback(T, ONE, feedback(lost_packets=1))
    assert hear(made, 0.5, packets=19, marked=19, now=2.1 * T) > 0.95 * BDP


def test_four_targets_of_delay_ask_for_quick_adapt() -> None:
    for delay, adapts in ((3.9, False), (4.1, True)):
        made = nscc()
        hear(made, 0.0)
        window = hear(made, delay, packets=2, now=2.1 * T)
        assert (window == 2 * WIRE) == adapts


@pytest.mark.parametrize(("packets", "left"), [(4, BDP - 4 * WIRE), (10_000, WIRE)])
def test_what_a_timeout_takes_for_lost_leaves_the_window_but_one_packet(packets: int, left: float) -> None:
    """OnInferredLoss (specification, 3.6.13.5)."""
    made = nscc()
    made.on_feedback(1e-3, ONE, feedback(timeouts=1, lost_packets=packets))
    assert (made.cwnd[0], made.rate[0]) == pytest.approx((left, 8 * left / T))


def incast(flows: int, *settings: str) -> Summary:
    options = ["tuner.preset=nscc", "time.duration=9 ms", "time.warmup=6 ms", f"traffic.senders={flows}", *settings]
    return measured("incast-8", options, controller="nscc")


@pytest.mark.parametrize("flows", [2, 8, 32])
@pytest.mark.parametrize(("preset", "target"), [("htsim", 1), ("htsim-trimming", 0.75)])
def test_queue_settles_at_the_target(flows: int, preset: str, target: float) -> None:
    """Within a fifth (facts sheet, 8.2). Nearly all packets are marked there."""
    found = incast(flows, f"controller.preset={preset}")
    assert found.ql_mean == pytest.approx(target * base_rtt(PACKET), rel=0.2)
    assert found.su > 99.9
    assert found.marked >= 90
    assert found.drops_in_run == 0


def test_one_flow_has_no_queue() -> None:
    found = incast(1)
    assert found.su > 99.9
    assert found.ql_p99 < 0.1e-6


def test_least_windows_stand_in_the_queue() -> None:
    """From N = (BDP + target) / P = 190 flows on N P - BDP are queued, if nothing is added in each RTT."""
    found = incast(256, "controller.additive=0")
    assert found.ql_mean == pytest.approx(256 * PACKET * 8 / LINE - base_rtt(PACKET), rel=0.01)


def test_unequal_windows_come_together_in_155_rtts() -> None:
    """Shares of 85 and 15 % are 70 and 30 % after 0.6 ms: the facts sheet's prototype."""
    rtt, duration = base_rtt(PACKET), 0.6e-3
    settings = ["engine=virtual", "tuner.preset=nscc", "time.duration=600 us", "time.warmup=0 s", "record.decisions=0"]
    run = VirtualRun(resolve("incast-2", {"controller": "nscc"}, {}, settings), [], Unwatched())
    assert isinstance(run.controller, CompiledFlows)
    run.controller.initial["cwnd"] = np.array([0.85, 0.15]) * 2 * LINE / 8 * rtt
    series = run.follow().flow_series
    first, second = series.acked_bytes[-1] - series.acked_bytes[series.time.searchsorted(duration - 5 * rtt)]
    assert first / (first + second) == pytest.approx(0.7, abs=0.05)


def test_in_a_clos_who_is_near_the_receiver_is_done_first() -> None:
    """15 send 2 MB each; in uet-htsim the one at the receiver's ToR is done after 1,090 us, the last after 2,455."""
    settings = [
        "rack={kind: clos, k: 4, link: {rate: 100 Gbit/s, delay: 1 us}, switch: {marking: dequeue}}",
        "routing=reps",
        "traffic={pattern: incast, senders: 15, size: 2 MB, payload: 4.086 kB}",
        "tuner={name: static, kmin: 37.35 kB, kmax: 145.25 kB, pmax: 100 %}",
        "controller.paced=off",
        "time.warmup=0",
        "time.duration=3 ms",
    ]
    done = simulated("incast-2", settings, controller="nscc").flows.finished
    assert (done[14], done.max()) == pytest.approx((1090e-6, 2455e-6), rel=0.1)
    assert done.argmin() == 14
