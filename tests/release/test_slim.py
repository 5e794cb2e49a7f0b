"""What is left of pyarrow does all that we ask of it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pyarrow

from release.slim import slim

ASKED = """\
import pyarrow, pyarrow.parquet, pyarrow.csv, pyarrow.dataset, pyarrow.compute, pyarrow.ipc
pyarrow.parquet.write_table(pyarrow.table({"a": [1, 2]}), "x.parquet")
counted, read = pyarrow.dataset.dataset("x.parquet").count_rows(), pyarrow.parquet.read_table("x.parquet")
print(pyarrow.__file__, counted, read.num_rows)
"""


def test_parquet_and_csv_need_neither_flight_nor_s3(tmp_path: Path) -> None:
    package = tmp_path / "pyarrow"
    shutil.copytree(Path(pyarrow.__file__).parent, package)
    before = size(package)
    slim(tmp_path)
    assert size(package) < 0.7 * before
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", ASKED], env=environment, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.stdout == f"{package / '__init__.py'} 2 2\n", done.stderr


def size(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*"))
