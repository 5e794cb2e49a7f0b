"""A table of time series as differences over time: what a report has room for. Nothing is lost, to the bit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from testbed.base.arrays import Ints
from testbed.results import arrow

_ABOUT = b"testbed"
_EXACT = 2.0**53  # whole numbers beyond it are not all floats
_LEVEL = 9  # of zstd: more takes seconds and saves little


def shrunk(file: Path) -> bytes:
    """A table that has a row for every time and every flow or port, by time: as Parquet of another kind."""
    import pyarrow as pa
    from pyarrow import parquet

    table = arrow.read(file).combine_chunks()
    key = next(field.name for field in table.schema if pa.types.is_dictionary(field.type))
    names = _names(table[key])
    columns, whole = [], []
    for field in table.schema:
        if field.name != key:
            values = arrow.values(table[field.name]).reshape(-1, max(len(names), 1)).T
            ints = _whole(values)
            whole.append(ints is not None)
            ints = np.ascontiguousarray(values).view(np.int64) if ints is None else ints
            columns.append(np.diff(ints, axis=1, prepend=0).reshape(-1))
    about = {"names": names, "whole": whole, "fields": [_told(field, key) for field in table.schema]}
    schema = pa.schema([(f"c{number}", pa.int64()) for number in range(len(columns))], {_ABOUT: json.dumps(about)})
    sink = pa.BufferOutputStream()
    parquet.write_table(
        pa.Table.from_arrays([arrow.numbers(column) for column in columns], schema=schema), sink,
        compression="zstd", compression_level=_LEVEL, use_dictionary=False, column_encoding="BYTE_STREAM_SPLIT",
        write_statistics=False,
    )  # fmt: skip
    return bytes(sink.getvalue())


def restore(content: bytes, file: Path) -> None:
    """Write the table that was `shrunk`: the same values, perhaps stored in other bytes."""
    import pyarrow as pa
    from pyarrow import parquet

    table = parquet.ParquetFile(pa.BufferReader(content)).read()
    about = json.loads(table.schema.metadata[_ABOUT])
    names, columns = about["names"], iter(zip(table.columns, about["whole"], strict=True))
    fields, arrays = [], []
    for name, unit in about["fields"]:
        if unit is None:
            index = np.tile(np.arange(len(names), dtype=np.int32), len(table) // max(len(names), 1))
            arrays.append(pa.DictionaryArray.from_arrays(arrow.numbers(index), arrow.strings(names)))
        else:
            column, whole = next(columns)
            ints = np.cumsum(arrow.values(column).reshape(max(len(names), 1), -1), axis=1)
            arrays.append(arrow.numbers((ints.astype(float) if whole else ints.view(float)).T.reshape(-1)))
        fields.append(pa.field(name, arrays[-1].type, metadata={"unit": unit or ""}))
    parquet.write_table(pa.Table.from_arrays(arrays, schema=pa.schema(fields)), file)


def _names(column: Any) -> list[str]:
    return list(column.chunk(0).dictionary.to_pylist()) if column.num_chunks else []


def _told(field: Any, key: str) -> tuple[str, str | None]:
    """Name and unit; None for the key."""
    return field.name, None if field.name == key else (field.metadata or {}).get(b"unit", b"").decode()


def _whole(values: NDArray[np.float64]) -> Ints | None:
    """The same as whole numbers, if they are, to the bit."""
    if not (np.abs(values) < _EXACT).all():  # nor nan
        return None
    ints = values.astype(np.int64)
    same = ints.astype(float).view(np.int64) == np.ascontiguousarray(values).view(np.int64)
    return ints if same.all() else None
