"""The window, counters over it, and what is known of an empty one."""

from __future__ import annotations

import math

import numpy as np
import pytest

from testbed.results import figures
from testbed.results.figures import Window
from tests.support.synthetic_runs import run


def test_the_window_leaves_out_the_warmup() -> None:
    assert figures.window(run(duration=10e-3, warmup=2e-3)) == (2e-3, 10e-3)


def test_the_window_ends_with_the_samples() -> None:
    record = run(duration=10e-3, warmup=2e-3)
    record.duration = 11e-3  # the last sample is at 10 ms
    assert figures.window(record).end == 10e-3
    assert figures.utilisation(record, figures.window(record)) == pytest.approx(95.0)


def test_growth_is_exact_between_samples() -> None:
    time = np.linspace(0, 1, 11)
    counter = np.column_stack([100 * time, 200 * time])
    assert figures.growth(time, counter, Window(0.123, 0.777)) == pytest.approx([65.4, 130.8])


def test_an_empty_window_knows_nothing() -> None:
    record = run(warmup=1.0)
    span = figures.window(record)
    assert math.isnan(figures.utilisation(record, span))
    assert math.isnan(figures.queue_latency_mean(record, span))
    assert math.isnan(figures.queue_latency_max(record, span))
    assert not figures.steady_flows(record, span).any()
