"""The plan of a sweep: its order, and a file that is not whole."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from testbed.errors import BadInput
from testbed.results.sweep_plan import Plan
from testbed.runs.sweep import prepare
from tests.support.sweeps import plan


def test_every_repeat_runs_everything_once_in_an_order_of_its_own() -> None:
    made = plan("traffic.senders=2,4")
    blocks = [made.in_order[i : i + 6] for i in range(0, 24, 6)]
    for seed, block in enumerate(blocks, 1):
        assert {cell.seed for cell in block} == {seed}
        assert len({cell.name for cell in block}) == 6
    orders = {tuple(cell.name.rpartition(",")[0] for cell in block) for block in blocks}
    assert len(orders) > 1
    assert made.order == plan("traffic.senders=2,4").order
    assert made.order != plan("traffic.senders=2,4", order_seed=2).order


def test_live_cells_take_the_time_that_they_last_and_can_be_late() -> None:
    live, virtual = (
        plan(f"engine={engine}", *more, "time.duration=10 ms", controller="dcqcn", repeat=1)
        for engine, more in (("live", ["time.dilation=1000"]), ("virtual", []))
    )
    assert (live.in_wall_time, live.in_kernel, virtual.in_wall_time) == (True, False, False)
    assert 10 < (live.cells[0].seconds or 0) < 20


def test_every_place_in_the_order_is_equally_likely() -> None:
    cells = plan(repeat=1).cells
    firsts = [Plan.make(cells, seed, []).order[0] for seed in range(60)]
    counts = [firsts.count(f"{name},seed=1") for name in ("dcqcn", "swift", "hpcc")]
    assert sum(counts) == 60
    assert min(counts) > 20 - 4 * (60 * 1 / 3 * 2 / 3) ** 0.5  # four standard deviations


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda _: "", "cut short or damaged"),
        (lambda text: text[: len(text) // 2], "cut short or damaged"),
        (lambda _: "[]", "schema version None"),
        (lambda text: text.replace('"schema_version": 1', '"schema_version": 2'), "schema version 2"),
        (lambda text: json.dumps(json.loads(text) | {"cells": 3}), "is damaged: cells"),
        (lambda text: json.dumps(json.loads(text) | {"order": []}), "is damaged: order"),
        (lambda text: text.replace("dcqcn,seed=1", "../../etc"), "is damaged: order"),
    ],
)  # fmt: skip
def test_a_plan_that_is_not_whole(tmp_path: Path, change, says: str) -> None:  # type: ignore[no-untyped-def]
    folder, _ = prepare.place(tmp_path / "s", plan())
    file = folder / "sweep.json"
    file.write_text(change(file.read_text()))
    with pytest.raises(BadInput, match=says):
        prepare.begun(folder, trusted=False)
