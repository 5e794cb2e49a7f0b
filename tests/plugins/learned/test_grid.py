"""PET's and ACC's actions against the published counts."""

from __future__ import annotations

import numpy as np
import pytest
from testbed_plugins import acc, pet


def test_pet_has_900_valid_joint_actions() -> None:
    """45 pairs of E(0) .. E(9) with Kmin < Kmax, 20 levels of Pmax (sections 4.2.2 and 5.2)."""
    grid = pet.grid(20e3)
    assert grid.kmin.tolist() == [20e3, 40e3, 80e3, 160e3, 320e3, 640e3, 1.28e6, 2.56e6, 5.12e6, 10.24e6]
    actions = grid.joint(buffer=20e6)
    assert len(actions) == len(np.unique(actions, axis=0)) == 900
    kmin, kmax, pmax = grid.values(actions)
    assert (kmin < kmax).all()
    assert np.unique(pmax) == pytest.approx(np.arange(5, 101, 5) / 100)


def test_n_is_cut_to_the_buffer() -> None:
    """Of 5 MB, E(7) = 2.56 MB is the largest that fits: 28 pairs."""
    actions = pet.grid(20e3).joint(buffer=5e6)
    assert len(actions) == 28 * 20
    assert pet.grid(20e3).values(actions)[1].max() == 2.56e6


def test_acc_has_a_coarse_kmax_and_one_percent() -> None:
    grid = acc.grid(20e3)
    kmin, kmax, pmax = grid.values(grid.joint(buffer=20e6))
    assert set(kmax) == {1e6, 2e6, 4e6, 8e6}
    assert (kmin < kmax).all()
    assert pmax.min() == 0.01
    assert len(np.unique(pmax)) == 21


def test_acc_numbers_of_actions_are_those_of_the_mask() -> None:
    grid = acc.grid(20e3)
    numbers = np.flatnonzero(acc.valid(grid, np.array([5e6]))[0])
    assert acc.rows(grid, numbers).tolist() == grid.joint(buffer=5e6).tolist()
