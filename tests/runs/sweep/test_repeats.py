"""Repeats are added until intervals hold, and are kept in the plan."""

from __future__ import annotations

from pathlib import Path

import pytest

from testbed.errors import BadInput
from testbed.results.sweep_plan import Plan
from testbed.runs.sweep import prepare
from testbed.runs.sweep.grid import Request
from testbed.runs.sweep.repeats import MOST, fewest, more, unheld
from tests.support.folders import results


def request() -> Request:
    return Request.parse("incast-8", "dcqcn,swift", "", [], repeat=1, seed=None)


def begun(out: Path, within: float | None = None) -> tuple[Path, Plan]:
    wanted = prepare.until(95, within)
    return prepare.place(out, prepare.planned(request(), 1, ["testbed", "sweep"], wanted))


def run(folder: Path, plan: Plan, **spread: float) -> None:
    """Every cell that has no results: SU 90, and so much more with each seed."""
    for cell in plan.cells:
        controller = cell.name.partition(",")[0]
        if not (folder / cell.name).exists():
            su = 90 + spread.get(controller, 0.0) * cell.seed
            results(folder / cell.name, controller, cell.seed, su=su, fr_flows=90.0, ql_mean=1e-6)


@pytest.mark.parametrize(("confidence", "n"), [(50, 2), (75, 3), (95, 6), (99, 8), (99.9, 11)])
def test_the_fewest_repeats_of_an_interval(confidence: float, n: int) -> None:
    assert fewest(confidence) == n


def test_six_repeats_of_each_hold_with_95_percent(tmp_path: Path) -> None:
    folder, plan = begun(tmp_path / "out")
    assert len(plan.cells) == 12
    run(folder, plan)
    assert more(folder, plan) is None
    assert unheld(folder, plan) == []


def test_a_run_that_failed_is_made_up_for(tmp_path: Path) -> None:
    folder, plan = begun(tmp_path / "out")
    run(folder, plan)
    (folder / "swift,seed=2").rename(tmp_path / "failed")
    grown = more(folder, plan)
    assert grown is not None
    assert [cell.name for cell in grown.cells[12:]] == ["swift,seed=7"]
    run(folder, grown.model_copy(update={"cells": grown.cells[12:]}))
    assert more(folder, grown) is None


def test_what_always_fails_is_not_tried_for_ever(tmp_path: Path) -> None:
    folder, plan = begun(tmp_path / "out")
    assert more(folder, plan) is None
    assert "too few runs after 0 runs" in unheld(folder, plan)[0]


def test_wide_intervals_get_more_and_the_plan_goes_on_with_them(tmp_path: Path) -> None:
    folder, plan = begun(tmp_path / "out", within=2)
    run(folder, plan, swift=1.0)  # 91 to 96: 2.7 % to either side
    grown = more(folder, plan)
    assert grown is not None
    added = [cell.name for cell in grown.cells[12:]]  # 1.79 times as many, by the root law: 5 more
    assert added == grown.order[12:] == [f"swift,seed={seed}" for seed in range(7, 12)]
    grown.write(folder)
    again, known = begun(tmp_path / "out", within=2)  # the same command once more
    assert (again, known) == (folder, grown)
    assert prepare.begun(folder, trusted=False)[1] == grown  # --resume
    with pytest.raises(BadInput, match="its --confidence or --within is another one"):
        begun(tmp_path / "out", within=3)


def test_at_some_point_it_is_given_up_and_said(tmp_path: Path) -> None:
    folder, plan = begun(tmp_path / "out", within=1)
    while (grown := more(folder, plan)) is not None or len(plan.cells) == 12:
        run(folder, plan := grown or plan, swift=40.0)
    assert len(plan.cells) == 6 + MOST
    (told,) = unheld(folder, plan)
    assert told.startswith("swift,seed=1: SU +-")
    assert told.endswith(f"after {MOST} runs with results")


@pytest.mark.parametrize(("confidence", "within"), [(49.0, None), (100.0, None), (95.0, 0.0), (None, 5.0)])
def test_what_cannot_be_is_refused(confidence: float | None, within: float | None) -> None:
    with pytest.raises(BadInput):
        prepare.until(confidence, within)
