"""Tables as CSV."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from testbed.errors import BadInput
from testbed.results import folder
from testbed.results.exported.csv_files import csv_files
from tests.support.recorded import mine, written


def test_every_table(tmp_path: Path) -> None:
    run = written(tmp_path / "run", mine(tmp_path))
    made = csv_files(run, tmp_path / "out")
    assert {file.stem for file in made} == {file.stem for file in run.glob("*.parquet")}
    table = folder.load(run).tables["flows"]
    with (tmp_path / "out" / "flows.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["src"] for row in rows] == table["src"].to_pylist()
    with pytest.raises(BadInput, match="is there already; expected a new folder"):
        csv_files(run, tmp_path / "out")
    with pytest.raises(BadInput, match="has no tables; expected a results folder"):
        csv_files(tmp_path / "nowhere", tmp_path / "more")
