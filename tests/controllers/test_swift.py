"""Swift against the numbers of the facts sheet, sections 2.2 to 2.6 and 10."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from testbed.compiled.flows import CompiledFlows
from tests.support.rows import ONE, WIRE, Columns, controller, feedback, paths
from tests.support.trials import tried

T = 8e-6
FAST, SLOW = T, 100e-6  # below and above any target


def swift(cwnd: float | None = None, preset: str | None = None, **options: Any) -> Any:
    made = controller("swift", paths(), preset, **options)
    if cwnd is not None:
        made.cwnd[:] = cwnd
    return made


def target(made: Any, cwnd: float | None = None) -> float:
    """Target delay of the first flow in seconds, at its window or another one."""
    flow = made.flow()
    flow.cwnd = cwnd or flow.cwnd
    return float(flow.target())


def ack(made: Any, now: float, rtt: float, packets: int = 1) -> float:
    """One acknowledgement; returns the window in packets."""
    made.on_feedback(now, ONE, feedback(acked_packets=packets, rtt=rtt))
    return float(made.cwnd[0])


def test_starts_with_one_bdp_at_line_rate() -> None:
    made = swift()
    assert made.window[0] == pytest.approx(100e3)  # 100 Gbit/s for 8 us
    assert made.rate[0] == 100e9


def test_recommended_target_in_base_rtts() -> None:
    """Base 1.5 to 2 T, T/16 per hop, flow scaling over 4 to 5 T."""
    made = swift()
    large, small = target(made, 100.0), target(made, 0.1)
    assert 1.5 <= (large - T / 16) / T <= 2
    assert 4 <= (small - large) / T <= 5


def test_target_scales_with_the_base_rtt_and_counts_hops() -> None:
    far = controller("swift", paths(base_rtt=5 * T, hops=3))
    near = controller("swift", paths(base_rtt=T, hops=3))
    assert target(far, 10.0) == pytest.approx(5 * target(near, 10.0))
    one_hop = controller("swift", paths(base_rtt=T, hops=1))
    assert target(near, 10.0) - target(one_hop, 10.0) == pytest.approx(2 * T / 16)


def test_times_are_absolute_without_a_reference() -> None:
    made = controller("swift", paths(base_rtt=5 * T), reference_rtt=0, base_target="20 us", per_hop="1 us")
    assert target(made, 1e6) == pytest.approx(21e-6)


@pytest.mark.parametrize(("preset", "base", "per_hop", "fs_range", "fs_max"), [
    ("htsim", 20e-6, 20e-6 / 6.55, 100e-6, 100),
    ("bolt", 25e-6, 1e-6, 100e-6, 256),
])  # fmt: skip
def test_published_presets(preset: str, base: float, per_hop: float, fs_range: float, fs_max: float) -> None:
    made = controller("swift", paths(), preset, reference_rtt=0)
    assert target(made, fs_max) == pytest.approx(base + per_hop, rel=2e-3)
    assert target(made, 0.1) == pytest.approx(base + per_hop + fs_range, rel=2e-3)
    assert (made.config.additive, made.config.beta, made.config.max_cut, made.config.retransmit_reset) == (
        1,
        0.8,
        0.5,
        5,
    )


@pytest.mark.parametrize("preset", ["recommended", "htsim", "bolt"])
def test_flow_scaling(preset: str) -> None:
    made = swift(preset=preset)

    def fbs(window: float) -> float:
        return target(made, window) - float(made.base_target[0])

    full = made.fs_range[0]
    assert fbs(made.config.fs_min) == pytest.approx(full)
    assert fbs(made.config.fs_min / 10) == pytest.approx(full)
    assert fbs(made.config.fs_max) == pytest.approx(0, abs=1e-15)
    assert fbs(10 * made.config.fs_max) == 0
    between = [fbs(window) for window in np.geomspace(made.config.fs_min, made.config.fs_max, 20)]
    assert between == sorted(between, reverse=True)
    assert len(set(between)) == 20


def test_a_hundred_late_acks_within_one_rtt_are_one_cut() -> None:
    made = swift(80.0)
    ack(made, 1e-3, SLOW)
    assert made.cwnd[0] == 40  # max_mdf
    for count in range(1, 100):
        assert ack(made, 1e-3 + count * SLOW / 101, SLOW) == 40
    assert ack(made, 1e-3 + SLOW, SLOW) == 20


def test_a_cut_is_in_proportion_to_the_excess() -> None:
    made = swift(80.0)
    delay = 1.25 * target(made)
    assert ack(made, 1e-3, delay) == pytest.approx(80 * (1 - 0.8 * 0.25 / 1.25))


def test_growth() -> None:
    assert ack(swift(0.5), 1e-3, FAST) == pytest.approx(1.5)  # ai
    assert ack(swift(10.0), 1e-3, FAST) == pytest.approx(10.1)  # ai / 10
    assert ack(swift(10.0), 1e-3, FAST, packets=5) == pytest.approx(10.5)  # n packets count n times


def test_one_packet_more_per_rtt() -> None:
    made = swift(10.0)
    for count in range(10):
        ack(made, count * FAST / 10, FAST)
    assert made.cwnd[0] == pytest.approx(11, abs=0.06)


def test_below_one_packet_the_pacing_gap_is_rtt_over_window() -> None:
    made = swift(0.75)
    made.cut_since[0] = -1.0
    ack(made, 1e-3, 40e-6)  # cut to 0.5 or a little more
    gap = 8 * WIRE / made.rate[0]
    assert gap == pytest.approx(40e-6 / made.cwnd[0])
    flow = made.flow()
    flow.set_cwnd(2e-3, 0.5)
    assert 8 * WIRE / flow.rate == pytest.approx(2 * 40e-6)
    assert flow.window == WIRE  # the window lets that packet through


def test_window_alone_holds_a_flow_above_one_packet() -> None:
    made = swift(initial_window=2.5)
    assert made.window[0] == pytest.approx(2.5 * WIRE)
    assert made.rate[0] == 100e9


def test_pacing_always() -> None:
    made = swift(2.5, pacing="always")
    ack(made, 1e-3, FAST)
    assert made.rate[0] == pytest.approx(made.cwnd[0] * WIRE * 8 / FAST)
    assert made.window[0] == 3 * WIRE


def test_last_decrease_is_strict() -> None:
    """A window that cannot shrink does not put off the next cut."""
    made = swift(0.001)
    for count in range(10):
        ack(made, 1e-3 + count * SLOW, SLOW)
    assert made.cwnd[0] == 0.001
    assert made.cut_since[0] == -np.inf


def test_growth_does_not_touch_the_last_decrease() -> None:
    made = swift(80.0)
    ack(made, 1e-3, SLOW)
    ack(made, 2e-3, FAST)
    assert made.cut_since[0] == 1e-3


def test_a_loss_is_one_largest_cut_per_rtt() -> None:
    """The acknowledgements that show the losses count as any others: here they are fast."""
    made, grown = swift(80.0), 40.0
    for count in range(5):
        made.on_feedback(1e-3 + count * 1e-6, ONE, feedback(lost_packets=3, acked_packets=1, rtt=FAST))
        grown += 1 / grown
        assert made.cwnd[0] == pytest.approx(grown, rel=1e-12)


def test_timeouts_cut_once_per_rtt_and_reset_after_five() -> None:
    made = swift(80.0)
    seen = []
    for count in range(5):
        made.on_feedback(1e-3 * (count + 1), ONE, feedback(timeouts=1))
        seen.append(float(made.cwnd[0]))
    assert seen == [40, 20, 10, 5, 0.001]
    assert made.window[0] == WIRE
    assert made.rate[0] == pytest.approx(0.001 * WIRE * 8 / T)


def test_an_ack_clears_the_count_of_timeouts() -> None:
    made = swift(80.0)
    for count in range(4):
        made.on_feedback(1e-3 * (count + 1), ONE, feedback(timeouts=1))
    ack(made, 6e-3, FAST)
    made.on_feedback(7e-3, ONE, feedback(timeouts=1))
    assert made.cwnd[0] > 1


def test_window_bounds() -> None:
    made = swift()
    for count in range(2000):
        ack(made, count * T, FAST, packets=50)
    assert made.cwnd[0] == 200  # two BDP of 100 packets
    for count in range(2000):
        ack(made, 1 + count * SLOW, SLOW)
    assert made.cwnd[0] == 0.001


@pytest.mark.parametrize("flows", [2, 8, 32])
def test_queue_settles_at_the_target(flows: int) -> None:
    """The RTT of n flows is their target delay: it grows as flow scaling says."""
    trial = tried("swift", flows, 2.5e-3, buffer=4e6)
    rtt = trial.rtt + trial.growth(trial.port("queue_area"), 1.5e-3) * 8 / 25e9
    assert isinstance(trial.controller, CompiledFlows)
    targets = [Columns(trial.controller).flow(number).target() for number in range(flows)]
    assert rtt == pytest.approx(np.mean(targets), rel=0.15)
    assert trial.load(1.5e-3) > 0.98
