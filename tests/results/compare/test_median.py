"""The interval must cover the median as often as it says, whatever the distribution."""

from __future__ import annotations

import math

import numpy as np
import pytest

from testbed.results.compare.median import coverage, estimate


@pytest.mark.parametrize(
    ("n", "low", "high", "covers"),
    [
        # 1 - 2 * P(fewer than k of n coins show heads), by hand
        (2, 1, 2, 1 / 2),
        (3, 1, 3, 3 / 4),
        (4, 1, 4, 7 / 8),
        (5, 1, 5, 15 / 16),
        (6, 1, 6, 31 / 32),
        (8, 1, 8, 127 / 128),
        (9, 2, 8, 1 - 2 * (1 + 9) / 512),  # the first that need not span everything
        (12, 3, 10, 1 - 2 * (1 + 12 + 66) / 4096),
    ],
)
def test_interval_and_its_coverage(n: int, low: int, high: int, covers: float) -> None:
    found = estimate([float(value) for value in range(n, 0, -1)])  # the order they come in does not matter
    assert (found.low, found.high) == (low, high)
    assert found.coverage == pytest.approx(covers, abs=1e-12)
    assert found.median == (n + 1) / 2


@pytest.mark.parametrize("n", [3, 6, 9])
def test_it_covers_the_median_of_a_skewed_distribution_as_often_as_it_says(n: int) -> None:
    samples = np.random.default_rng(1).lognormal(mean=0, sigma=2, size=(20_000, n))  # its median is 1
    found = [estimate(list(sample)) for sample in samples]
    covered = np.mean([one.low <= 1 <= one.high for one in found])
    error = math.sqrt(0.25 / len(samples))
    assert covered == pytest.approx(found[0].coverage, abs=4 * error)


def test_one_repeat_has_no_interval() -> None:
    found = estimate([3.0])
    assert found.median == 3
    assert not found.has_interval
    assert coverage(1) == 0


def test_an_unknown_repeat_makes_the_figure_unknown() -> None:
    found = estimate([1.0, math.nan, 3.0])
    assert math.isnan(found.median)
    assert not found.has_interval
    assert math.isnan(estimate([]).median)
