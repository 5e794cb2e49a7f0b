"""Tables: their units, and how they are written."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from pyarrow import parquet

from testbed.results import folder
from testbed.results.manifest import Manifest
from testbed.results.tables import TABLES, flow_names
from tests.results.written import written
from tests.support.synthetic_runs import run


def test_every_column_states_its_unit(tmp_path: Path, manifest: Manifest) -> None:
    path = written(tmp_path / "out", manifest)
    units = {
        (name, field.name): field.metadata[b"unit"].decode()
        for name in TABLES
        for field in parquet.read_schema(path / f"{name}.parquet")
    }
    assert units["flow_series", "time"] == "s"
    assert units["flow_series", "rate"] == "bit/s"
    assert units["port_series", "queue_area"] == "B s"
    assert units["port_series", "marked_packets"] == "1"
    assert units["flows", "src"] == ""


def test_long_series_are_written_in_blocks(tmp_path: Path, manifest: Manifest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("testbed.results.tables._ROWS_AT_ONCE", 7)
    table = folder.load(written(tmp_path / "out", manifest)).tables["flow_series"]
    assert table["time"].to_pylist() == np.repeat(run().flow_series.time, 2).tolist()


def test_flow_names_are_unique() -> None:
    assert flow_names(run([0.5] * 3, sources=["h1", "h1", "h2"]).flows) == ["h1-h99", "h1-h99#2", "h2-h99"]
