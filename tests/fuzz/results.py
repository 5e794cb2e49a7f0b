"""A results folder, and what of it a report carries."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import numpy as np

from testbed.base.arrays import Floats
from testbed.errors import BadInput
from testbed.results import differences
from tests.results.written import described, written

SOME: Floats = np.arange(5.0)


@cache
def folder() -> Mapping[str, bytes]:
    """Its files."""
    with tempfile.TemporaryDirectory() as made:
        path = written(Path(made, "run"), described(Path(made, "my_cc.py")))
        return {file.name: file.read_bytes() for file in path.iterdir() if file.is_file()}


def packed_table() -> bytes:
    """A series as it is in a report."""
    with tempfile.TemporaryDirectory() as made:
        file = Path(made, "port_series.parquet")
        file.write_bytes(folder()[file.name])
        return differences.shrunk(file)


def unpack(file: Path) -> int:
    """As `packed.at` does it."""
    try:
        differences.restore(file.read_bytes(), file.with_name("port_series.parquet"))
    except ValueError as error:
        raise BadInput(str(error)) from None
    return 0
