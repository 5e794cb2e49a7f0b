"""The search beside full grids that were measured once, on draws that neither has seen."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from testbed.advise.objective import share
from tests.support.grids import GRIDS, Grid

pytest.importorskip("optuna")
FILES = sorted(GRIDS.glob("*.csv"))


@pytest.mark.parametrize("file", FILES, ids=lambda one: one.stem)
def test_a_third_of_the_runs_has_most_of_the_whole_grids_gain(file: Path) -> None:
    grid = Grid(file)
    best = share(grid.checked(grid.best().candidate))
    assert best > 0.05, "nothing to gain"
    assert np.mean(grid.gains("tpe", 3)) >= 0.75 * best


def test_where_few_thresholds_hold_the_constraint_it_finds_more_than_chance() -> None:
    grid = Grid(GRIDS / "incast-16.csv")
    assert np.mean(grid.gains("tpe", 3)) > 1.2 * np.mean(grid.gains("random", 3))
