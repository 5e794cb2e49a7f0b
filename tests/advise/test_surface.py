"""What is known from a few measurements."""

from __future__ import annotations

import numpy as np
import pytest

from testbed.advise.surface import Surface

PLACES = np.random.default_rng(1).random((40, 2))
ONCE = np.ones(40)


def test_a_smooth_figure_is_known_between_what_was_measured_and_the_knob_that_matters_is_the_short_one() -> None:
    surface = Surface.through(PLACES, np.sin(4 * PLACES[:, 0]), ONCE)
    there = np.random.default_rng(2).random((50, 2)) * 0.8 + 0.1
    mean, spread = surface.at(there)
    assert mean == pytest.approx(np.sin(4 * there[:, 0]), abs=0.05)
    assert spread.max() < 0.1
    assert surface.lengths[0] < surface.lengths[1]


def test_noise_is_no_shape_and_more_draws_have_less_of_it() -> None:
    noise = np.random.default_rng(3).normal(size=40)
    surface = Surface.through(PLACES, noise, ONCE)
    assert np.abs(surface.at(PLACES)[0]).max() < 0.7 * np.abs(noise).max()
    alike = Surface(PLACES, noise, np.where(np.arange(40) == 0, 100.0, 1.0), surface.lengths, 1.0)
    assert abs(alike.at(PLACES[:1])[0][0] - noise[0]) < abs(
        Surface(PLACES, noise, ONCE, surface.lengths, 1.0).at(PLACES[:1])[0][0] - noise[0]
    )


def test_a_supposed_measurement_changes_what_is_sure_and_not_what_is_expected() -> None:
    surface = Surface.through(PLACES[:5], PLACES[:5, 0], ONCE[:5])
    place = np.array([0.95, 0.95])
    before, after = surface.at(place[None]), surface.supposing(place).at(place[None])
    assert after[1][0] < before[1][0]
    assert after[0][0] == pytest.approx(before[0][0], abs=0.2)
