"""The runs of a comparison: which they are, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from testbed.errors import BadInput
from testbed.results.papers.cells import cuts
from testbed.results.papers.comparison import load
from testbed.runs.reproduce import cells
from tests.support.comparisons import MINE
from tests.support.sweeps import CONTROLLER


def test_runs_are_those_of_rows_and_columns_that_can_be_run() -> None:
    comparison = load(str(MINE))
    every = cells.table_cells(comparison)
    assert [one.run.name for one in every] == [
        f"{row},{column},seed={seed}" for row in "AB" for column in ("two", "eight") for seed in (1, 2)
    ]
    assert [one.run.name for one in cells.table_cells(comparison, quick=True)] == ["A,two,seed=1", "B,two,seed=1"]
    assert every[0].run.experiment["traffic"]["senders"] == 2
    assert every[0].run.experiment["record"]["report"] is False  # which takes longer than the run
    assert every[-1].run.experiment["controller"]["name"] == "fixed"
    assert cuts(comparison) == [
        "not run: 8 to 1",
        "1 run of every cell instead of 2",
        "time.duration 200 us instead of 400 us",
        "a degraded cell is not repeated slower",
    ]


def test_a_setting_that_does_not_exist_names_its_place(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(MINE.read_text().replace("traffic.senders: 2", "traffic.sender: 2"))
    with pytest.raises(
        BadInput, match=r"mine, row A, column two: .*no such key with pattern 'incast'; did you mean 'senders'"
    ):
        cells.table_cells(load(str(file)))
    refused: list[str] = []
    assert {one.column for one in cells.table_cells(load(str(file)), refused=refused)} == {"eight"}
    assert len(refused) == 2


def test_a_dilation_must_be_a_number(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(MINE.read_text().replace("time.dilation: 1000", "time.dilation: auto"))
    with pytest.raises(BadInput, match=r"mine, row A, column two: time\.dilation: a comparison needs a number"):
        cells.table_cells(load(str(file)))


@pytest.mark.parametrize("controller", ["my_cc.py", "./my_cc.py:Mine"])
def test_paths_are_relative_to_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, controller: str) -> None:
    folder = tmp_path / "there"
    folder.mkdir()
    (folder / "my_cc.py").write_text(CONTROLLER)
    (folder / "two.yaml").write_text("traffic: {pattern: incast, senders: 3}\ncontroller: dcqcn\n")
    text = MINE.read_text().replace("experiment: incast-8, settings: {traffic.senders: 2}", "experiment: two.yaml")
    (folder / "mine.yaml").write_text(text.replace("controller: dcqcn", f"controller: {controller}"))
    monkeypatch.chdir(tmp_path)
    first = cells.table_cells(load("there/mine.yaml"))[0]
    assert (first.row, first.column) == ("A", "two")
    assert first.run.plugins["controller"] == f"{folder}/{controller.removeprefix('./')}"
    assert first.run.source == f"{folder}/two.yaml"
    assert first.run.experiment["traffic"]["senders"] == 3


def test_slower_is_the_same_run_at_another_dilation() -> None:
    cell = cells.table_cells(load(str(MINE)))[0].run
    again = cells.slower(cell, 2)
    assert again.name == cell.name
    assert again.experiment["time"].pop("dilation") == 2 * cell.experiment["time"].pop("dilation")
    assert again.experiment == cell.experiment
