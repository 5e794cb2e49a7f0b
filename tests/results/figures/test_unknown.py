"""A figure that cannot be known is nan, and never a plausible number."""

from __future__ import annotations

import math

import numpy as np
import pytest

from testbed.results.figures.unknown import mean, quantile, ratio


def test_of_nothing_nothing_is_known() -> None:
    nothing = np.empty(0)
    assert all(math.isnan(figure) for figure in (ratio(1, 0), ratio(0, 0), mean(nothing), quantile(nothing, 0.5)))


def test_of_something_it_is() -> None:
    values = np.array([1.0, 2.0, 3.0, 4.0])
    assert (ratio(1, 4), mean(values)) == (0.25, 2.5)
    assert quantile(values, 0.99) == pytest.approx(3.97)
