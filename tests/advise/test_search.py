"""The search beside full grids that were measured once, on draws that neither has seen."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from testbed.advise.budget import Budget
from testbed.advise.constraint import Constraint
from testbed.advise.evidence import Ask, Evidence, Found
from testbed.advise.knob import Knob
from testbed.advise.objective import share
from testbed.advise.proposer import Expected
from testbed.advise.question import Aim
from testbed.advise.search import search
from testbed.advise.space import Space
from testbed.advise.standing import Beside
from tests.support.grids import GRIDS, Chance, Grid

SEEDS = range(1, 9)


@pytest.mark.parametrize("file", sorted(GRIDS.glob("*.csv")), ids=lambda one: one.stem)
def test_a_tenth_of_the_runs_has_nearly_all_of_the_whole_grids_gain(file: Path) -> None:
    grid = Grid(file)
    assert share(grid.checked(grid.best().candidate)) > 0.05, "nothing to gain"
    assert np.median(grid.reached(Expected, SEEDS)) >= 0.95


def test_where_few_thresholds_hold_the_constraint_it_finds_more_than_chance() -> None:
    grid = Grid(GRIDS / "incast-16.csv")
    assert np.median(grid.reached(Expected, SEEDS)) > 1.2 * np.median(grid.reached(Chance, SEEDS))


def test_what_holds_in_the_first_draw_alone_does_not_stop_what_holds_in_all() -> None:
    """The less Kmin the better; the constraint holds from 12 kB on in the first draw, from 40 kB on in others."""
    space = Space([Knob.read("tuner.kmin=2 kB..200 kB")], {"tuner.kmin": "200 kB"})
    lucky, best = (("tuner.kmin=20 kB",), ("tuner.kmin=50 kB",))

    def found(ask: Ask) -> Found:
        kmin = space.knobs[0].number(space.texts(ask.candidate)["tuner.kmin"])
        return Found({"ql_p99": kmin, "goodput": min(kmin / (40e3 if ask.draw else 12e3), 1.0)})

    evidence = Evidence(lambda asks: [found(one) for one in asks])
    now = {"one": [one.figures for one in evidence.of([Ask("one", draw) for draw in range(3)])]}
    beside = Beside(evidence, ["one"], Aim.of("ql_p99", now), [Constraint.read("goodput >= 1*baseline", ["one"])])
    history = search(lambda _tried, _size: [lucky, best], beside, range(3), Budget(None, 30), [])
    assert history.whole[0].candidate == best
