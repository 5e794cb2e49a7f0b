"""TIMELY against its papers (SIGCOMM 2015; CoNEXT 2016, sections 3 and 4), and the closed form of the patched law."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from testbed.results.summary import Summary
from tests.support.rows import ONE, controller, feedback, paths
from tests.support.simulated import measured
from tests.support.theory import WIRE, base_rtt

T = 8e-6
DELTA = 100e6  # 10 Mbit/s at 10 Gbit/s
START = 20e9


def timely(preset: str | None = None, line_rate: float = 100e9, **options: Any) -> Any:
    return controller("timely", paths(line_rate=line_rate), preset, start_rate=START / 100e9, segment=0, **options)


def hear(made: Any, *queues: float) -> float:
    """Acknowledgements one base RTT apart, of queueing delays in base RTTs; returns the rate."""
    for queue in queues:
        now = max(float(made.decide_at[0]), 0.0)
        made.on_feedback(now, ONE, feedback(acked_packets=1, rtt=T * (1 + queue)))
    return float(made.rate[0])


@pytest.mark.parametrize("preset", ["patched", "original"])
def test_below_the_low_threshold_the_rate_rises_by_delta(preset: str) -> None:
    assert hear(timely(preset), 0.0, 0.9, 0.1) == pytest.approx(START + 3 * DELTA)


@pytest.mark.parametrize(("preset", "beta"), [("patched", 0.008), ("original", 0.8)])
def test_above_the_high_threshold_it_falls_by_the_excess(preset: str, beta: float) -> None:
    assert hear(timely(preset), 20.0) == pytest.approx(START * (1 - beta * (1 - 10 / 20)))


def test_patched_weighs_queue_and_gradient() -> None:
    """w = 2 g + 1/2, between 0 and 1: delta (1 - w), and beta w times the excess over the low threshold."""
    made = timely()
    still = START * (1 - 0.008 * 0.5 * 2) + DELTA / 2
    assert hear(made, 3.0) == pytest.approx(still)
    gradient = 0.875 * 0.1
    weight = 2 * gradient + 0.5
    rising = still * (1 - 0.008 * weight * 2.1) + DELTA * (1 - weight)
    assert hear(made, 3.1) == pytest.approx(rising)
    assert hear(made, 6.0) == pytest.approx(rising * (1 - 0.008 * 5))
    assert hear(made, 2.0) == pytest.approx(rising * (1 - 0.008 * 5) + DELTA)


def test_original_follows_the_gradient_alone() -> None:
    made = timely("original")
    assert hear(made, 3.0) == pytest.approx(START + DELTA)
    assert hear(made, 3.2) == pytest.approx((START + DELTA) * (1 - 0.8 * 0.875 * 0.2))


def test_original_rises_five_times_as_fast_from_the_fifth_in_a_row() -> None:
    made, seen = timely("original"), [START]
    for _ in range(6):
        seen.append(hear(made, 5.0))
    steps = [round((after - before) / DELTA) for before, after in pairwise(seen)]
    assert steps == [1, 1, 1, 1, 5, 5]
    hear(made, 5.2)
    before = hear(made, 5.0, 5.0)
    assert hear(made, 5.0) == pytest.approx(before + DELTA)


def test_one_decision_takes_half_at_most() -> None:
    assert hear(timely("original"), 2.0, 9.0) == pytest.approx((START + DELTA) / 2)


def test_decides_once_per_segment_and_at_most_once_per_base_rtt() -> None:
    for segment, gap in (("16 kB", T), ("64 kB", 64e3 * 8 / (START + DELTA))):
        made = controller("timely", paths(), start_rate=START / 100e9, segment=segment)
        for now in (0.0, 0.5 * gap, 0.99 * gap):
            made.on_feedback(now, ONE, feedback(acked_packets=1, rtt=T))
            assert made.rate[0] == START + DELTA
        made.on_feedback(1.01 * gap, ONE, feedback(acked_packets=1, rtt=T))
        assert made.rate[0] == START + 2 * DELTA


@pytest.mark.parametrize("preset", ["patched", "original"])
def test_twice_the_line_rate_is_twice_the_rate(preset: str) -> None:
    queues = (0.5, 1.5, 3.0, 2.5, 2.5, 12.0, 9.0)
    assert hear(timely(preset, 200e9), *queues) == pytest.approx(2 * hear(timely(preset), *queues))


def test_losses_and_timeouts_halve_once_per_rtt() -> None:
    made = timely()
    for now, lost in ((1e-3, "lost_packets"), (1e-3 + T / 2, "timeouts"), (1e-3 + 1.01 * T, "timeouts")):
        made.on_feedback(now, ONE, feedback(**{lost: 1}))
    assert made.rate[0] == START / 4


def test_rate_bounds() -> None:
    assert hear(timely(), *[0.0] * 1000) == 100e9
    made = timely()
    for count in range(100):
        made.on_feedback(1e-3 * count, ONE, feedback(timeouts=1))
    assert made.rate[0] == 1e6


def incast(flows: int, *settings: str) -> Summary:
    options = [f"traffic.senders={flows}", f"controller.start_rate={0.8 / flows}", *settings]
    return measured("incast-8", ["time.duration=8 ms", "time.warmup=5 ms", *options], controller="timely")


@pytest.mark.parametrize("flows", [2, 8, 32])
def test_patched_queue_stands_at_the_closed_form(flows: int) -> None:
    """q* = T (1 + N delta / (beta C)), CoNEXT 2016, section 4.3: two and five base RTTs for 8 and 32 flows.

    Two flows swing around it, between an empty queue and T above it.
    """
    found = incast(flows)
    assert found.ql_mean == pytest.approx(base_rtt(WIRE) * (1 + flows / 8), rel=0.05 if flows == 2 else 0.01)
    assert found.su > 99.9
    assert found.drops_in_run == 0


def test_queue_follows_the_base_rtt() -> None:
    found = incast(8, "rack.link.delay=4 us")
    assert found.ql_mean == pytest.approx((base_rtt(WIRE) + 8e-6) * 2, rel=0.01)


def test_patched_is_fair_and_original_is_not() -> None:
    patched, original = incast(8), incast(8, "controller.preset=original")
    assert patched.fr_flows > 95
    assert original.fr_flows < 80
    assert original.ql_mean < base_rtt(WIRE)  # it keeps around the low threshold, wherever rates are
