"""Bins of times: as many per doubling as asked for, and none is lost."""

from __future__ import annotations

import numpy as np
import pytest

from testbed.agent.histogram import OCTAVES, SMALLEST, TimeHistogram


@pytest.mark.parametrize("per_octave", [2, 16])
def test_a_time_is_in_the_bin_that_holds_it(per_octave: int) -> None:
    for time in np.random.default_rng(1).uniform(-11, 1, 200):
        histogram = TimeHistogram(per_octave)
        histogram.add(10.0**time)
        (bin,) = np.flatnonzero(histogram.counts)
        assert histogram.edges[bin] <= 10.0**time * (1 + 1e-9)
        assert 10.0**time <= histogram.edges[bin + 1] * (1 + 1e-9)


def test_every_doubling_has_its_bins() -> None:
    edges = TimeHistogram(4).edges
    assert len(edges) == 4 * OCTAVES + 1
    assert edges[4:] / edges[:-4] == pytest.approx(2)


def test_what_is_too_short_or_too_long_is_at_the_ends() -> None:
    histogram = TimeHistogram(4)
    for time in (0.0, -1.0, SMALLEST / 2, 1e9):
        histogram.add(time)
    assert (histogram.counts[0], histogram.counts[-1], histogram.counts.sum()) == (3, 1, 4)
