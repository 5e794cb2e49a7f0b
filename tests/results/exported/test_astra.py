"""Jobs in the form of ASTRA-sim."""

from __future__ import annotations

from pathlib import Path

import pytest

from testbed.errors import BadInput
from testbed.results import arrow
from testbed.results.exported.astra import astra


def test_ranks(tmp_path: Path) -> None:
    said = [("j", 0, "compute", 1e-6, 2e-6), ("j", 0, "done", 5e-6, 0.0), ("j", 1, "done", 4e-6, 0.0)]
    names = ("job", "rank", "kind", "begin", "length")
    columns = dict(zip(names, map(list, zip(*said, strict=True)), strict=True))
    (tmp_path / "steps.parquet").write_bytes(b"")
    import pyarrow as pa
    from pyarrow import parquet

    parquet.write_table(pa.table(columns), tmp_path / "steps.parquet")
    assert arrow.read(tmp_path / "steps.parquet").num_rows == 3
    assert list(astra(tmp_path)) == [
        "sys[0] finished, 4000 cycles, exposed communication 2000 cycles.",
        "sys[1] finished, 3000 cycles, exposed communication 3000 cycles.",
    ]


def test_a_run_without_jobs(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="has no jobs; expected a run of ranks that compute and wait"):
        list(astra(tmp_path))
