"""DCQCN against the numbers of the facts sheet, sections 1.3, 1.4 and 10."""

from __future__ import annotations

import numpy as np
import pytest

from testbed.sdk.conformance.trial import RTT
from tests.controllers.dcqcn.presets import CNP, LINE, nic, paper, step
from tests.support.rows import ONE, WIRE, controller, feedback, paths
from tests.support.trials import tried


def test_starts_at_line_rate_with_no_timer_and_no_window() -> None:
    dcqcn = paper()
    assert dcqcn.rate[0] == LINE
    assert dcqcn.window[0] == np.inf
    assert dcqcn.timer[0] == np.inf
    assert dcqcn.alpha[0] == 1


def test_first_cnp_halves_the_rate_and_the_target_keeps_the_old_one() -> None:
    dcqcn = paper()
    dcqcn.on_feedback(1e-3, ONE, CNP)
    assert dcqcn.rate[0] == LINE / 2
    assert dcqcn.target[0] == LINE
    assert dcqcn.timer[0] == pytest.approx(1e-3 + 55e-6)


def test_every_cnp_sets_the_target_in_the_paper() -> None:
    dcqcn = paper()
    dcqcn.on_feedback(0.0, ONE, CNP)
    dcqcn.on_feedback(50e-6, ONE, CNP)
    assert dcqcn.target[0] == LINE / 2
    assert dcqcn.rate[0] == LINE / 4


def test_cnps_that_are_heard_together_are_a_cut_each_as_published() -> None:
    dcqcn = paper()
    dcqcn.on_feedback(0.0, ONE, feedback(cnps=3))
    assert dcqcn.rate[0] == LINE / 8


def test_feedback_without_a_cnp_changes_nothing() -> None:
    dcqcn = paper()
    dcqcn.on_feedback(0.0, ONE, feedback(acked_packets=5, ce_packets=5, lost_packets=2, timeouts=1, rtt=1e-3))
    assert dcqcn.rate[0] == LINE


def test_only_the_flow_with_the_cnp_is_cut() -> None:
    dcqcn = controller("dcqcn", paths(3, LINE), "paper")
    rows = feedback(3)
    rows.cnps[1] = 1
    dcqcn.on_feedback(0.0, np.arange(3), rows)
    assert dcqcn.rate.tolist() == [LINE, LINE / 2, LINE]


def test_alpha_decays_once_per_period_without_a_cnp() -> None:
    dcqcn, g = paper(), 1 / 256
    dcqcn.on_feedback(0.0, ONE, CNP)  # alpha was 1 and stays 1
    rate = dcqcn.rate[0]
    dcqcn.on_feedback(10.5 * 55e-6, ONE, CNP)
    decayed = (1 - g) ** 10
    assert dcqcn.rate[0] == pytest.approx(rate * (1 - decayed / 2))
    assert dcqcn.alpha[0] == pytest.approx((1 - g) * decayed + g)


def test_cnps_closer_than_the_period_keep_alpha_up() -> None:
    dcqcn = paper()
    for count in range(100):
        dcqcn.on_feedback(count * 50e-6, ONE, CNP)
    assert dcqcn.alpha[0] == pytest.approx(1)


@pytest.mark.parametrize(("order", "alpha"), [("cut_first", 0.5), ("alpha_first", 0.5 + 0.5 / 256)])
def test_order_of_cut_and_alpha(order: str, alpha: float) -> None:
    dcqcn = paper(order=order)
    dcqcn.alpha[0] = 0.5
    dcqcn.on_feedback(0.0, ONE, CNP)
    assert dcqcn.rate[0] == pytest.approx(LINE * (1 - alpha / 2), rel=1e-12)


def test_five_recovery_steps_leave_one_64th_and_then_the_target_rises() -> None:
    """Compare, then increment: F = 5 means 5 steps, which leave (1/2)^6 of the old rate."""
    dcqcn = paper()
    dcqcn.on_feedback(0.0, ONE, CNP)
    dcqcn.on_feedback(50e-6, ONE, CNP)
    old = dcqcn.target[0]
    assert old == LINE / 2
    for steps in range(1, 6):
        assert step(dcqcn) == pytest.approx(50e-6 + steps * 55e-6)
        assert dcqcn.target[0] == old
        assert old - dcqcn.rate[0] == pytest.approx(old * 0.5 ** (steps + 1))
    rate = dcqcn.rate[0]
    step(dcqcn)
    assert dcqcn.target[0] == old + 40e6
    assert dcqcn.rate[0] == pytest.approx((rate + old + 40e6) / 2)


def test_a_cnp_restarts_recovery() -> None:
    dcqcn = paper()
    dcqcn.on_feedback(0.0, ONE, CNP)
    for _ in range(4):
        now = step(dcqcn)
    dcqcn.on_feedback(now, ONE, CNP)
    target = dcqcn.target[0]
    for _ in range(5):
        step(dcqcn)
    assert dcqcn.target[0] == target


def test_ten_megabytes_are_an_increase() -> None:
    dcqcn = paper()
    dcqcn.on_feedback(0.0, ONE, CNP)
    dcqcn.on_sent(1e-6, ONE, np.array([9_999_999]))
    assert dcqcn.rate[0] == LINE / 2
    dcqcn.on_sent(2e-6, ONE, np.array([1]))
    assert dcqcn.rate[0] == LINE * 3 / 4
    dcqcn.on_sent(3e-6, ONE, np.array([9_999_999]))
    assert dcqcn.rate[0] == LINE * 3 / 4


def test_a_cnp_starts_the_byte_counter_anew() -> None:
    dcqcn = paper()
    dcqcn.on_feedback(0.0, ONE, CNP)
    dcqcn.on_sent(1e-6, ONE, np.array([9_000_000]))
    dcqcn.on_feedback(2e-6, ONE, CNP)
    dcqcn.on_sent(3e-6, ONE, np.array([9_000_000]))
    assert dcqcn.rate[0] == LINE / 4
    dcqcn.on_sent(4e-6, ONE, np.array([1_500_000]))  # half a megabyte too many counts for the next step
    assert dcqcn.rate[0] == LINE * 3 / 8
    dcqcn.on_sent(5e-6, ONE, np.array([9_500_000]))
    assert dcqcn.rate[0] == LINE * 7 / 16


def test_byte_counter_off() -> None:
    dcqcn = paper(byte_counter=0)
    dcqcn.on_feedback(0.0, ONE, CNP)
    dcqcn.on_sent(1e-6, ONE, np.array([10**9]))
    assert dcqcn.rate[0] == LINE / 2


def test_hyper_increase_needs_both_counters_past_f_and_grows() -> None:
    dcqcn = paper(recovery_steps=1)
    dcqcn.on_feedback(0.0, ONE, CNP)
    dcqcn.on_feedback(0.0, ONE, CNP)
    gained = []
    for _ in range(4):
        for increase in (lambda: step(dcqcn), lambda: dcqcn.on_sent(0.0, ONE, np.array([10_000_000]))):
            before = dcqcn.target[0]
            increase()
            gained.append(round((dcqcn.target[0] - before) / 1e6))
    # (timer, bytes) before each: 00 10 11 21 22 32 33 43; min > 1 is hyper, with i = min - 1
    assert gained == [0, 40, 40, 40, 200, 200, 400, 400]


def test_rates_scale_with_the_line() -> None:
    """Regime A of section 0.6: 100 Mbit/s."""
    assert nic(100e6).additive[0] == pytest.approx(20e3)
    assert nic(100e6).hyper[0] == pytest.approx(200e3)
    assert paper(100e6).additive[0] == pytest.approx(100e3)
    assert paper(LINE).additive[0] == 40e6


def test_rate_never_leaves_its_bounds() -> None:
    dcqcn = paper(min_rate="1 Gbit/s")
    for count in range(50):
        dcqcn.on_feedback(count * 50e-6, ONE, CNP)
        assert 1e9 <= dcqcn.rate[0] <= LINE
    while dcqcn.timer[0] < np.inf:
        step(dcqcn)
        assert dcqcn.rate[0] <= dcqcn.target[0] <= LINE


def test_timer_stops_once_the_rate_is_back() -> None:
    dcqcn = paper()
    dcqcn.on_feedback(0.0, ONE, CNP)
    fired = 0
    while dcqcn.timer[0] < np.inf:
        step(dcqcn)
        fired += 1
    assert dcqcn.rate[0] == pytest.approx(LINE, rel=1e-6)
    assert fired == 19  # 2^-20 is the first power below a millionth


def test_late_timer_loses_no_step() -> None:
    dcqcn = paper()
    dcqcn.on_feedback(0.0, ONE, CNP)
    now = 3.5 * 55e-6
    calls = 0
    while dcqcn.timer[0] <= now:
        dcqcn.on_timer(now, ONE)
        calls += 1
    assert calls == 3
    assert LINE - dcqcn.rate[0] == pytest.approx(LINE / 16)


def test_target_may_wait_for_the_byte_counter() -> None:
    dcqcn = paper(clamp_target="byte_increase")
    dcqcn.on_feedback(0.0, ONE, CNP)
    step(dcqcn)
    dcqcn.on_feedback(1e-4, ONE, CNP)
    assert dcqcn.target[0] == LINE
    dcqcn.on_sent(1e-4, ONE, np.array([10_000_000]))
    rate = dcqcn.rate[0]
    dcqcn.on_feedback(2e-4, ONE, CNP)
    assert dcqcn.target[0] == rate


def test_one_cut_keeps_the_least_share() -> None:
    dcqcn = paper(min_decrease="80 %")
    dcqcn.on_feedback(0.0, ONE, CNP)
    assert dcqcn.rate[0] == pytest.approx(0.8 * LINE)


def test_window_of_one_bdp() -> None:
    dcqcn = paper(window="bdp")
    assert dcqcn.window[0] == LINE * 8e-6 / 8
    assert paper(line_rate=1e8, window="bdp").window[0] == WIRE  # a smaller one would stop the flow


def test_restart_forgets() -> None:
    dcqcn = paper()
    dcqcn.on_feedback(0.0, ONE, CNP)
    dcqcn.on_start(1.0, ONE)
    assert (dcqcn.rate[0], dcqcn.target[0], dcqcn.timer[0]) == (LINE, LINE, np.inf)


def test_receiver_paces_cnps_and_flows_are_independent() -> None:
    """CE on every packet for 1 s and N = 19 ms give 52 or 53 CNPs per flow; here a thousand times faster."""
    options = {"cnp_interval": "19 us", "min_rate": "25 Gbit/s", "reference_rate": "25 Gbit/s"}
    trial = tried("dcqcn", 2, 1e-3 + 2 * RTT, preset="paper", options=options, red=(0, 0, 1), buffer=8e6)
    assert set(trial.record.flows.cnps) <= {52, 53}
