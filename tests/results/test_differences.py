"""Series as differences come back as they were, to the bit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from testbed.results import arrow, differences


def table(times: int, names: list[str]) -> pa.Table:
    """Counters, rates, what is unknown at first, and what a careless conversion to whole numbers would change."""
    shape = (times, len(names))
    random = np.random.default_rng(1)
    odd = np.resize([-0.0, np.inf, np.nan, 2.0**60, 5e-324, -1.5], shape)
    large = np.resize([2.0**53, -(2.0**52), 1.0], shape)
    index = np.tile(np.arange(len(names), dtype=np.int32), times)
    columns = {
        "time": np.repeat(np.arange(times) * 1e-5, len(names)),
        "flow": pa.DictionaryArray.from_arrays(arrow.numbers(index), arrow.strings(names)),
        "acked_bytes": np.cumsum(random.integers(0, 9000, shape), axis=0).astype(float).reshape(-1),
        "rate": random.uniform(1e6, 1e11, shape).reshape(-1),
        "odd": odd.reshape(-1),
        "large": large.reshape(-1),
        "zero": np.full(shape, -0.0).reshape(-1),
    }
    return arrow.table(columns)


@pytest.mark.parametrize(("times", "names"), [(400, ["a", "b", "c"]), (1, ["a"]), (0, ["a", "b"])])
def test_nothing_is_lost(tmp_path: Path, times: int, names: list[str]) -> None:
    before = table(times, names)
    parquet.write_table(before, tmp_path / "before")
    differences.restore(differences.shrunk(tmp_path / "before"), tmp_path / "after")
    after = parquet.read_table(tmp_path / "after")
    assert after.column_names == before.column_names
    assert after["flow"].to_pylist() == before["flow"].to_pylist()
    for name in set(before.column_names) - {"flow"}:
        bits = [one[name].to_numpy().view(np.int64).tolist() for one in (before, after)]
        assert bits[0] == bits[1], name


def test_counters_take_little_room(tmp_path: Path) -> None:
    """14 bits of a random number each, where a float has 64."""
    parquet.write_table(table(4000, ["a", "b"]).select(["time", "flow", "acked_bytes"]), tmp_path / "before")
    assert len(differences.shrunk(tmp_path / "before")) < 8000 * 20 / 8


def test_times_of_a_clock_take_little_room(tmp_path: Path) -> None:
    """RTTs of stamps in whole picoseconds, 20 random bits, with a delay added: to the last bit; unknown at first."""
    stamps = np.random.default_rng(2).integers(1, 1 << 20, 8000) * 1e-12 + 7.3e-6
    stamps[:2] = np.nan
    before = table(4000, ["a", "b"]).select(["time", "flow"]).append_column("rtt", pa.array(stamps, from_pandas=False))
    parquet.write_table(before, tmp_path / "before")
    shrunk = differences.shrunk(tmp_path / "before")
    differences.restore(shrunk, tmp_path / "after")
    after = parquet.read_table(tmp_path / "after")["rtt"].to_numpy()
    assert after.view(np.int64).tolist() == stamps.view(np.int64).tolist()
    assert len(shrunk) < 8000 * 36 / 8
