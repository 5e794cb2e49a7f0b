"""What was late in the start of a run, and what in the window after it."""

from __future__ import annotations

import numpy as np
import pytest

from testbed.agent.histogram import TimeHistogram
from testbed.agent.meter import Meter
from testbed.live.lateness import Counted

US = 1e-6


def note(histogram: TimeHistogram, time: float, times: int) -> None:
    """As the datapath counts."""
    for _ in range(times):
        histogram.add(time)
    histogram.top[0] = max(histogram.top[0], time)


def counted(now: float, meters: list[Meter], shaped: tuple[float, float], idle: tuple[float, ...]) -> Counted:
    return Counted.until(now, meters, np.array(shaped), idle)


def test_a_synchronised_start_is_not_held_against_the_window_after_it() -> None:
    """6,528 packets 30 us late, then 319,000 in time: of the whole run they are 2 %, of the window none."""
    meters = [Meter(16, hosts=2), Meter(16, hosts=1)]
    for meter in meters:
        note(meter.pacing_lag, 30 * US, 3264)
        note(meter.timer_lag, 20 * US, 1)
    meters[0].given_up[1] = 4e-3
    start = counted(10e-3, meters, (1e6, 5e4), (0.02, 0.5))
    note(meters[0].pacing_lag, 0.1 * US, 319_000)
    note(meters[1].feedback_lag, 0.2 * US, 10)
    meters[0].given_up[:] = 1e-3, 4.5e-3
    end = counted(30e-3, meters, (3e6, 7e4), (0.02, 0.5, 0.4, 0.6))

    window, before, whole = end.since(start), start.since(None), end.since(None)
    assert whole.pacing_lag.histogram.quantile(0.99) > 25 * US
    assert window.pacing_lag.histogram.quantile(0.99) < 0.12 * US
    assert window.pacing_lag.largest == pytest.approx(0.1 * US, rel=0.19)  # the end of its bin, a quarter of an octave
    assert before.pacing_lag.histogram.counts.sum() == 6528
    assert before.pacing_lag.largest == 30 * US
    assert before.timer_lag is not None
    assert window.timer_lag is not None
    assert (before.timer_lag.largest, window.timer_lag.largest) == (20 * US, 0.0)
    assert window.feedback_lag.histogram.counts.sum() == 10
    assert (before.cpu_idle, window.cpu_idle) == (0.02, 0.4)
    assert (before.cpu_idle_mean, window.cpu_idle_mean) == pytest.approx((0.26, 0.5))
    assert (before.stalled_share, window.stalled_share) == (0.05, 0.01)
    assert (before.stalled_bytes, window.stalled_bytes) == (5e4, 2e4)
    assert (before.line_given_up, window.line_given_up) == pytest.approx((0.4, 0.05))  # of the worst host of each part


def test_the_latest_of_the_window_is_exact_where_it_is_the_latest_of_all() -> None:
    meter = Meter(16)
    note(meter.pacing_lag, 3 * US, 5)
    start = counted(1e-3, [meter], (0.0, 0.0), ())
    note(meter.pacing_lag, 7.1 * US, 1)
    assert counted(2e-3, [meter], (0.0, 0.0), ()).since(start).pacing_lag.largest == 7.1 * US


def test_a_window_in_which_nothing_was_sent_has_no_lag() -> None:
    meter = Meter(16)
    note(meter.pacing_lag, 3 * US, 5)
    start = counted(1e-3, [meter], (0.0, 0.0), ())
    window = counted(1e-3, [meter], (0.0, 0.0), ()).since(start)
    assert np.isnan(window.pacing_lag.histogram.quantile(0.99))
    assert (window.pacing_lag.largest, window.line_given_up, window.cpu_idle) == (0.0, 0.0, 1.0)


def test_cores_that_were_busy_until_the_window_began_are_named_where_it_was_too_short_to_tell() -> None:
    """Who has no core counts late: a half second that ended with the warm-up may be all that a run knows."""
    meter = Meter(16)
    start = counted(1e-3, [meter], (0.0, 0.0), (0.7, 0.01))
    window = counted(2e-3, [meter], (0.0, 0.0), (0.7, 0.01)).since(start)
    assert (window.cpu_idle, window.cpu_idle_mean) == (0.01, 0.01)


def test_without_a_shaper_nothing_is_known_of_it() -> None:
    found = counted(1e-3, [Meter(16)], (np.nan, np.nan), ()).since(None)
    assert np.isnan([found.stalled_bytes, found.stalled_share]).all()
