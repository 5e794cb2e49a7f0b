"""Quantiles of waiting times of which some were cut off, beside those of the distribution that they are from."""

from __future__ import annotations

import math

import numpy as np
import pytest

from testbed.results.figures.censored import Censored


def test_without_a_cut_it_is_the_quantile_of_the_values() -> None:
    values = np.random.default_rng(1).exponential(size=333)
    for q in (0.0, 0.01, 0.5, 0.99, 1.0):
        assert Censored(values, np.ones(333, bool)).quantile(q) == pytest.approx(np.quantile(values, q))


def test_quantiles_of_the_whole_distribution_though_half_of_it_was_cut_off() -> None:
    """Those of the ones that were not cut off are 30 % too small."""
    random, n = np.random.default_rng(2), 40_000
    true, cut = random.exponential(1.0, n), random.uniform(0, 2.5, n)
    found = Censored(np.minimum(true, cut), true <= cut)
    assert found.quantile(0.5) == pytest.approx(math.log(2), rel=0.03)
    assert found.quantile(0.8) == pytest.approx(math.log(5), rel=0.03)
    assert math.isnan(found.quantile(0.99))
    assert float(np.quantile(found.known, 0.5)) < 0.75 * math.log(2)


@pytest.mark.parametrize(
    ("times", "done", "half"),
    [
        ([1.0], [True], 1.0),
        ([1.0], [False], math.nan),
        ([], [], math.nan),
        ([1.0, 2.0], [False, True], 2.0),
        ([1.0, 1.0], [True, False], math.nan),
    ],
)
def test_of_next_to_nothing(times: list[float], done: list[bool], half: float) -> None:
    assert Censored(np.array(times), np.array(done, bool)).quantile(0.5) == pytest.approx(half, nan_ok=True)
