"""Flow sizes: means as published, interpolation, cutting."""

from __future__ import annotations

import numpy as np
import pytest

from testbed.experiment.traffic.distribution import load, shipped

PUBLISHED = {  # mean in bytes, tolerance of a sampled mean: tails are heavy, so the standard error is large
    "websearch": (1.711e6, 0.02),
    "websearch-abm": (1.711e6, 0.02),
    "websearch-pfabric": (1.66e6, 0.02),
    "datamining": (12.66e6, 0.03),
    "datamining-pfabric": (7.47e6, 0.03),
    "datamining-abm": (5.04e6, 0.04),
    "fbhdp": (120.4e3, 0.02),
    "alistorage": (40.87e3, 0.02),
    "googlerpc": (2.968e3, 0.05),
}
SAMPLES = 1_000_000


def test_all_shipped_ones_are_checked() -> None:
    assert shipped() == sorted(PUBLISHED)


@pytest.mark.parametrize("name", PUBLISHED)
def test_mean_as_published(name: str) -> None:
    mean, tolerance = PUBLISHED[name]
    sizes = load(name)
    assert sizes.mean == pytest.approx(mean, rel=0.005)
    drawn = sizes.sizes(np.random.default_rng(1).random(SAMPLES))
    assert drawn.mean() == pytest.approx(mean, rel=tolerance)
    assert drawn.min() >= 1
    assert (drawn == np.round(drawn)).all()


def test_straight_lines_between_points() -> None:
    sizes = load("websearch").sizes(np.array([0.0, 0.15, 0.175, 0.53, 0.75, 1.0]))
    assert sizes.tolist() == [1.0, 10e3, 15e3, 80e3, 1.5e6, 30e6]


def test_below_the_first_point_all_have_its_size() -> None:
    assert load("datamining-pfabric").sizes(np.array([0.0, 0.2, 0.5])).tolist() == [1460.0] * 3


def test_cut_to_a_largest_size() -> None:
    whole, cut = load("datamining"), load("datamining").up_to(30e6)
    uniform = np.random.default_rng(2).random(SAMPLES)
    drawn = np.minimum(whole.sizes(uniform), 30e6)
    assert (cut.sizes(uniform) == drawn).all()
    assert cut.mean == pytest.approx(drawn.mean(), rel=0.01)
    assert whole.up_to(1e9) is whole
