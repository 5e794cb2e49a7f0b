"""A table of time series as differences over time: what a report has room for. Nothing is lost, to the bit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, Field

from testbed.base.arrays import Ints
from testbed.results import arrow

_ABOUT = b"testbed"
_EXACT = 2.0**53  # whole numbers beyond it are not all floats
_STEPS = (1.0, 1e-12)  # bytes and packets; times, which clocks tell in whole picoseconds
_NEAR = 1 << 8  # last bits of a float that say little
_LEVEL = 9  # of zstd: more takes seconds and saves little


def shrunk(file: Path) -> bytes:
    """A table that has a row for every time and every flow or port, by time: as Parquet of another kind."""
    import pyarrow as pa
    from pyarrow import parquet

    table = arrow.read(file).combine_chunks()
    key = next(field.name for field in table.schema if pa.types.is_dictionary(field.type))
    names = _names(table[key])
    columns, steps = [], []
    for field in table.schema:
        if field.name != key:
            values = arrow.values(table[field.name]).reshape(-1, max(len(names), 1)).T
            step, counts, rest = _counted(np.ascontiguousarray(values))
            steps.append(step)
            columns += [np.diff(counts, axis=1, prepend=0).reshape(-1), rest.reshape(-1)]
    about = {"names": names, "steps": steps, "fields": [_told(field, key) for field in table.schema]}
    schema = pa.schema([(f"c{number}", pa.int64()) for number in range(len(columns))], {_ABOUT: json.dumps(about)})
    sink = pa.BufferOutputStream()
    parquet.write_table(
        pa.Table.from_arrays([arrow.numbers(column) for column in columns], schema=schema), sink,
        compression="zstd", compression_level=_LEVEL, use_dictionary=False, write_statistics=False,
    )  # fmt: skip
    return bytes(sink.getvalue())


class _About(BaseModel):
    """What the metadata of such a table says."""

    names: list[str]
    steps: list[Annotated[float, Field(gt=0, allow_inf_nan=False)] | None]
    fields: list[tuple[str, str | None]]  # name and unit; None for the key


def restore(content: bytes, file: Path) -> None:
    """Write the table that was `shrunk`: the same values, perhaps stored in other bytes.

    Raises ValueError for what is none.
    """
    import pyarrow as pa
    from pyarrow import parquet

    about, numbers = _opened(content)
    names, columns = about.names, iter(zip(numbers[::2], numbers[1::2], about.steps, strict=True))
    fields, arrays = [], []
    for name, unit in about.fields:
        if unit is None:
            index = np.tile(np.arange(len(names), dtype=np.int32), len(numbers[0]) // max(len(names), 1))
            arrays.append(pa.DictionaryArray.from_arrays(arrow.numbers(index), arrow.strings(names)))
        else:
            differences, rest, step = next(columns)
            counts = np.cumsum(differences.reshape(max(len(names), 1), -1), axis=1)
            values = _floats(counts, step) + rest.reshape(counts.shape)
            arrays.append(arrow.numbers(values.view(float).T.reshape(-1)))
        fields.append(pa.field(name, arrays[-1].type, metadata={"unit": unit or ""}))
    parquet.write_table(pa.Table.from_arrays(arrays, schema=pa.schema(fields)), file)


def _opened(content: bytes) -> tuple[_About, list[Ints]]:
    """What it says, and its columns: two for each one that was, all of whole rows."""
    import pyarrow as pa
    from pyarrow import parquet

    try:
        table = parquet.ParquetFile(pa.BufferReader(content)).read()
    except (pa.ArrowException, OSError) as error:
        raise ValueError(str(error)) from None
    about = _About.model_validate_json((table.schema.metadata or {}).get(_ABOUT, b""))
    units = [unit for _, unit in about.fields if unit is not None]
    whole = len(table) % max(len(about.names), 1) == 0
    plain = all(column.type == pa.int64() and not column.null_count for column in table.columns)
    if not (units and plain and whole and len(table.columns) == 2 * len(about.steps) == 2 * len(units)):
        raise ValueError("a table is not the differences of one")
    return about, [arrow.values(column) for column in table.columns]


def _names(column: Any) -> list[str]:
    return list(column.chunk(0).dictionary.to_pylist()) if column.num_chunks else []


def _told(field: Any, key: str) -> tuple[str, str | None]:
    """Name and unit; None for the key."""
    return field.name, None if field.name == key else (field.metadata or {}).get(b"unit", b"").decode()


def _counted(values: NDArray[np.float64]) -> tuple[float | None, Ints, Ints]:
    """How many steps values are, and the few bits that they differ from that. Without a step: their own bits."""
    bits = values.view(np.int64)
    for step in _STEPS:
        near = np.abs(values) < _EXACT * step  # nor nan
        counts = np.rint(np.where(near, values, 0.0) / step).astype(np.int64)
        rest = bits - _floats(counts, step)
        if np.count_nonzero(np.abs(rest) >= _NEAR) <= rest.size / 8:
            return step, counts, rest
    return None, bits, np.zeros_like(bits)


def _floats(counts: Ints, step: float | None) -> Ints:
    """The bits of so many steps."""
    return counts if step is None else (counts * step).view(np.int64)
