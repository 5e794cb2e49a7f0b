"""Arrow arrays from columns, and tables from files, without pandas.

Most ways to make or to read an array import pandas where it is installed, to ask whether a Series was meant, and most
ways to read a file import pyarrow's dataset module. That is a second at the end of every run.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from testbed.base.strange import is_plain, visible

if TYPE_CHECKING:
    import pyarrow as pa
    from pyarrow.parquet import ParquetFile


def load() -> None:
    """Load what writes Parquet files, as a part of a run's start.

    It shall use memory that the C library has: Arrow's own allocator asks for large pages, which a virtual machine may
    have to wait for.
    """
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    import pyarrow.parquet  # noqa: F401


def numbers(values: NDArray[Any], missing: NDArray[np.bool_] | None = None) -> pa.Array:
    """An array of numbers or truth values; null where ``missing``."""
    import pyarrow as pa

    plain = np.ascontiguousarray(values)
    kind = pa.from_numpy_dtype(plain.dtype)
    data = np.packbits(plain, bitorder="little") if plain.dtype == np.bool_ else plain
    valid = None if missing is None or not missing.any() else np.packbits(~missing, bitorder="little")
    return pa.Array.from_buffers(kind, len(plain), [None if valid is None else pa.py_buffer(valid), pa.py_buffer(data)])


def bitmapped(values: NDArray[Any], valid: NDArray[np.uint8] | None) -> pa.Array:
    """An array that shares the memory of these numbers; null where a bit of ``valid`` is 0, the lowest first."""
    import pyarrow as pa

    complete = valid is None or (len(values) % 8 == 0 and valid.min(initial=255) == 255)  # which is quicker to write
    bits = None if complete else pa.py_buffer(valid)
    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(values), [bits, pa.py_buffer(values)])


def strings(values: Sequence[str]) -> pa.Array:
    """An array of strings."""
    import pyarrow as pa

    encoded = [value.encode() for value in values]
    offsets = np.cumsum([0, *map(len, encoded)], dtype=np.int32)
    return pa.StringArray.from_buffers(len(encoded), pa.py_buffer(offsets), pa.py_buffer(b"".join(encoded)))


def column(values: Any) -> pa.Array:
    """An array of whatever a column holds: strings, numbers, or what is an array already."""
    import pyarrow as pa

    if isinstance(values, pa.Array):
        return values
    if len(values) and isinstance(values[0], str):
        return strings(values)
    return numbers(np.asarray(values))


def table(columns: dict[str, Any]) -> pa.Table:
    """A table of such columns."""
    import pyarrow as pa

    return pa.Table.from_arrays([column(values) for values in columns.values()], names=list(columns))


def values(column: pa.Array | pa.ChunkedArray) -> NDArray[Any]:
    """The numbers of a column that has no nulls; they are not to be written to."""
    import pyarrow as pa

    return np.from_dlpack(column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column)


def check(file: Path) -> None:
    """That a Parquet file is whole, by what stands at its end; raises ArrowException, and OSError."""
    with _opened(file):
        pass


def read(file: Path) -> pa.Table:
    """One Parquet file; raises ArrowException if it is damaged or has a name that nobody gave, and OSError."""
    import pyarrow as pa

    with _opened(file) as opened:
        table = opened.read()
        for name, column in zip(table.column_names, table.columns, strict=True):
            if not is_plain(name + "".join(_texts(column))):
                raise pa.ArrowInvalid(f"column {visible(name)} has a text with a control character")
    return table


@contextmanager
def _opened(file: Path) -> Iterator[ParquetFile]:
    import pyarrow as pa
    from pyarrow import parquet

    try:
        with parquet.ParquetFile(file) as opened:
            yield opened
    except UnicodeDecodeError as error:
        raise pa.ArrowInvalid(f"a name or a text is not UTF-8: {error}") from None


def _texts(column: pa.ChunkedArray) -> Iterator[str]:
    import pyarrow as pa

    keys = pa.types.is_dictionary(column.type)
    if keys or pa.types.is_string(column.type):
        for part in column.chunks:
            yield from filter(None, (part.dictionary if keys else part).to_pylist())
