from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from testbed.clock import Clock

dilations = st.floats(min_value=1, max_value=1e6)
seconds = st.floats(min_value=0, max_value=1e6)


def test_rack_of_the_design() -> None:
    """100 Gbit/s and 8 us at dilation 1000 run as 100 Mbit/s and 8 ms."""
    clock = Clock(1000)
    assert clock.wall_rate(100e9) == pytest.approx(100e6)
    assert clock.wall_seconds(8e-6) == pytest.approx(8e-3)
    assert clock.wall_ns(8e-6) == 8_000_000


@given(dilation=dilations, value=seconds)
def test_there_and_back(dilation: float, value: float) -> None:
    clock = Clock(dilation)
    assert clock.nominal_seconds(clock.wall_seconds(value)) == pytest.approx(value)
    assert clock.nominal_rate(clock.wall_rate(value)) == pytest.approx(value)


@given(dilation=dilations, rate=st.floats(min_value=1e6, max_value=1e12), rtt=st.floats(min_value=1e-7, max_value=1e-2))
def test_bytes_are_never_scaled(dilation: float, rate: float, rtt: float) -> None:
    clock = Clock(dilation)
    assert clock.wall_rate(rate) * clock.wall_seconds(rtt) == pytest.approx(rate * rtt)


def test_stamps() -> None:
    clock = Clock(1000, epoch_ns=5_000_000_000)
    stamps = np.array([5_000_000_000, 5_008_000_000, 4_999_000_000], np.uint64)
    assert clock.nominal_from_stamps(stamps) == pytest.approx([0, 8e-6, -1e-6])
    assert clock.seconds_per_ns * 8_000_000 == pytest.approx(8e-6)


def test_now_counts_from_the_start() -> None:
    before = time.monotonic()
    clock = Clock(1000).started()
    time.sleep(0.01)
    now = clock.now()
    assert 10e-6 <= now <= (time.monotonic() - before) / 1000
