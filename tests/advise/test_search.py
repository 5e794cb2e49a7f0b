"""The search beside full grids that were measured once, on draws that neither has seen."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from testbed.advise.objective import share
from testbed.advise.proposer import Chance, Expected
from tests.support.grids import GRIDS, Grid

SEEDS = range(1, 9)


@pytest.mark.parametrize("file", sorted(GRIDS.glob("*.csv")), ids=lambda one: one.stem)
def test_a_tenth_of_the_runs_has_nearly_all_of_the_whole_grids_gain(file: Path) -> None:
    grid = Grid(file)
    assert share(grid.checked(grid.best().candidate)) > 0.05, "nothing to gain"
    assert np.median(grid.reached(Expected, SEEDS)) >= 0.95


def test_where_few_thresholds_hold_the_constraint_it_finds_more_than_chance() -> None:
    grid = Grid(GRIDS / "incast-16.csv")
    assert np.median(grid.reached(Expected, SEEDS)) > 1.2 * np.median(grid.reached(Chance, SEEDS))
