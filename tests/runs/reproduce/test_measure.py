"""What is in the folder fills the table; and one comparison with real packets."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from testbed.errors import BadInput
from testbed.results.papers.cells import Measured, TableCell
from testbed.results.papers.comparison import load
from testbed.results.sweep_plan import Cell
from testbed.runs.reproduce import measure
from testbed.runs.reproduce.cells import slower, table_cells
from testbed.runs.reproduce.measure import FACTOR, SLOWER, collect
from testbed.runs.sweep.hire import Wanted
from tests.support.comparisons import MINE
from tests.support.folders import results
from tests.support.waiting import PATIENCE


@pytest.fixture
def every() -> list[TableCell]:
    return table_cells(load(str(MINE)))


def write(folder: Path, one: TableCell, factor: float = 1.0, **figures: Any) -> None:
    cell = one.run if factor == 1 else slower(one.run, factor)
    settings = [f"{key}={value}" for key, value in cell.settings.items()]
    results(folder / cell.name, cell.plugins["controller"], cell.seed, *settings, **figures)


def test_the_runs_that_are_there_are_found(tmp_path: Path, every: list[TableCell]) -> None:
    write(tmp_path, every[0], su=90.0)
    write(tmp_path, every[1], su=80.0, degraded=True)
    found = collect(tmp_path, every)
    assert {seed: one.su for seed, one in found.of("A", "two").items()} == {1: 90, 2: 80}
    assert len(found.degraded("A", "two")) == 1
    assert not found.of("B", "two")


def test_the_slower_repetition_of_a_degraded_run_counts(tmp_path: Path, every: list[TableCell]) -> None:
    write(tmp_path, every[0], su=80.0, degraded=True)
    write(tmp_path / SLOWER, every[0], FACTOR, su=90.0)
    found = collect(tmp_path, every)
    assert {seed: one.su for seed, one in found.of("A", "two").items()} == {1: 90}
    assert not found.degraded("A", "two")


@pytest.fixture
def degrading(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Every run is degraded, without a packet; the folders into which they went."""
    folders: list[Path] = []

    def run(folder: Path, cells: Sequence[Cell], _measured: Measured, _jobs: int) -> None:
        folders.append(folder)
        for cell in cells:
            settings = [f"{key}={value}" for key, value in cell.settings.items()]
            results(folder / cell.name, cell.plugins["controller"], cell.seed, *settings, degraded=True)

    monkeypatch.setattr(measure, "_runs", run)
    return folders


@pytest.fixture
def fastest(tmp_path: Path) -> list[TableCell]:
    """Runs whose links cannot be shaped to twice the dilation."""
    file = tmp_path / "mine.yaml"
    file.write_text(MINE.read_text().replace("time.dilation: 1000", "time.dilation: 6000, rack.link.rate: 1 Gbit/s"))
    return table_cells(load(str(file)))[:2]


def test_what_is_degraded_is_run_again(tmp_path: Path, every: list[TableCell], degrading: list[Path]) -> None:
    out = tmp_path / "out"
    assert measure.run(out, every[:1], again=False, workers=Wanted()).refused == []
    assert measure.run(out / "again", every[:1], again=True, workers=Wanted()).refused == []
    assert degrading == [out, out / "again", out / "again" / SLOWER]


def test_what_cannot_be_slower_is_named_and_the_table_is_there(
    tmp_path: Path, fastest: list[TableCell], degrading: list[Path]
) -> None:
    measured = measure.run(tmp_path / "out", fastest, again=True, workers=Wanted())
    assert degrading == [tmp_path / "out"]
    assert [refusal.partition(":")[0] for refusal in measured.refused] == [
        f"A,two,seed={seed} again, slower" for seed in (1, 2)
    ]
    assert all("it must be from 1 to 10000" in refusal for refusal in measured.refused)
    assert measure.run(tmp_path / "quick", fastest, again=False, workers=Wanted()).refused == []


def test_after_ctrl_c_nothing_is_run_again(
    tmp_path: Path, fastest: list[TableCell], degrading: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = measure._runs

    def interrupted(folder: Path, cells: Sequence[Cell], measured: Measured, workers: Wanted) -> None:
        run(folder, cells, measured, workers)
        measured.interrupted = True

    monkeypatch.setattr(measure, "_runs", interrupted)
    assert measure.run(tmp_path / "out", fastest, again=True, workers=Wanted()).refused == []
    assert degrading == [tmp_path / "out"]


def test_another_run_under_a_cells_name_is_refused(tmp_path: Path, every: list[TableCell]) -> None:
    results(tmp_path / every[0].run.name, "dcqcn", 1, "traffic.senders=3")
    with pytest.raises(BadInput, match=r"A,two,seed=1 holds another run than this comparison's"):
        collect(tmp_path, every)


@pytest.mark.root
@pytest.mark.parallel
@pytest.mark.skipif(os.geteuid() != 0, reason="builds a rack")
def test_a_comparison_is_run_once_and_then_read(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "testbed", "reproduce", str(MINE), "--quick", "--out", str(tmp_path / "out")]
    command += ["--format", "json", "--column", "two", "--row", "A"]
    seen = []
    for _ in range(2):
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE)
        assert done.returncode in (0, 3), done.stderr
        cells = json.loads(done.stdout)["cells"]
        ours = {cell["metric"]: cell["here"] for cell in cells if (cell["row"], cell["column"]) == ("A", "two")}
        assert ours["su"]["median"] > 50
        assert all(cell["here"] is None for cell in cells if cell["row"] == "C")
        seen.append((ours["su"], "1 of 1 cells are there already" in done.stderr))
    assert seen == [(seen[0][0], False), (seen[0][0], True)]
