"""A link's rate is found between a machine's stalls, and a wrong rate is found whatever stalls."""

from __future__ import annotations

import numpy as np
import pytest

from testbed.engines.kernel.calibration.rates import steady_rate

PACKET, GAP = 1000.0, 86_000.0  # bytes, ns


def arrivals(gap: float, stalls: tuple[int, ...] = (), each: float = 0.0) -> np.ndarray:
    times = np.arange(150) * gap
    for at in stalls:
        times[at:] += each
    return times


def rate(times: np.ndarray) -> float:
    return steady_rate(times, np.arange(len(times)) * PACKET)


@pytest.mark.parametrize("stalls", [(), (75,), (20, 60, 120), (1, 149)])
def test_what_a_machine_loses_in_a_stall_is_not_the_links_rate(stalls: tuple[int, ...]) -> None:
    assert rate(arrivals(GAP, stalls, each=3e6)) == pytest.approx(PACKET / GAP)


def test_a_shaper_that_lets_two_packets_go_at_a_time_has_the_rate_of_one_by_one() -> None:
    pairs = np.arange(150) // 2 * 2 * GAP
    assert rate(pairs) == pytest.approx(PACKET / GAP, rel=0.01)


@pytest.mark.parametrize("wrong", [0.95, 1.05])
def test_a_wrong_rate_shows_with_stalls_too(wrong: float) -> None:
    assert rate(arrivals(GAP / wrong, (20, 60, 120), each=3e6)) == pytest.approx(wrong * PACKET / GAP)


def test_a_machine_that_is_late_all_the_time_is_not_excused() -> None:
    assert rate(arrivals(GAP, tuple(range(0, 150, 5)), each=GAP)) < 0.9 * PACKET / GAP


def test_too_little_is_no_rate() -> None:
    assert rate(arrivals(GAP)[:10]) == 0.0
    assert rate(np.zeros(0)) == 0.0
