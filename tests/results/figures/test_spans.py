"""The window, counters over it, and what is known of an empty one."""

from __future__ import annotations

import math

import numpy as np
import pytest

from testbed.results.figures import Window, fairness, latency, spans, throughput
from tests.support.synthetic_runs import run


def test_the_window_leaves_out_the_warmup() -> None:
    assert spans.window(run(duration=10e-3, warmup=2e-3)) == (2e-3, 10e-3)


def test_the_window_ends_with_the_samples() -> None:
    record = run(duration=10e-3, warmup=2e-3)
    record.duration = 11e-3  # the last sample is at 10 ms
    assert spans.window(record).end == 10e-3
    assert throughput.utilisation(record, spans.window(record)) == pytest.approx(95.0)


def test_growth_is_exact_between_samples() -> None:
    time = np.linspace(0, 1, 11)
    counter = np.column_stack([100 * time, 200 * time])
    assert spans.growth(time, counter, Window(0.123, 0.777)) == pytest.approx([65.4, 130.8])


def test_an_empty_window_knows_nothing() -> None:
    record = run(warmup=1.0)
    span = spans.window(record)
    assert math.isnan(throughput.utilisation(record, span))
    assert math.isnan(latency.queue_latency_mean(record, span))
    assert math.isnan(latency.queue_latency_max(record, span))
    assert not fairness.steady_flows(record, span).any()
