"""decisions.parquet: every call into every agent's controller, and how to build that controller again.

One row per call and flow; a column is null where it says nothing about a kind of call. The file's metadata has the
paths that each agent gave to its controller; which one that was is in the manifest.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from testbed.base.pages import large_pages
from testbed.controller import Paths
from testbed.errors import BadInput
from testbed.results import arrow
from testbed.results.folder import DECISIONS, read_table
from testbed.results.tables import UNITS
from testbed.results.trace import COUNTS, DECIDED, HOP, INC, KINDS, SRC, Block, DecisionTrace, Rows

_ABOUT = b"testbed"
_BLOCK = 40_000  # rows that are encoded at a time: each time costs as much as some thousand rows, and each row memory
_VALUE, _OVERHEAD = 10, 1000  # bytes of a value, however little it compresses; values that a column's header stands for
_ALWAYS = ("agent", "kind", "call", "time", "flow", *DECIDED, *COUNTS)  # never null
_LISTED = ("kind",)
_COUNTING = ("call", "flow", "acked_seq", "next_seq")
_WHOLE = ("time", *DECIDED)  # and the rate of hops: to split their bytes costs more than it saves
_PATH_COLUMNS = ("line_rate", "base_rtt", "hops")
_OF_ALL = ("payload", "wire_size", "longest_rtt")  # flows
_HOP_UNITS = {"ts": "s", "tx_bytes": "B", "queue": "B", "rate": "bit/s"}


class Served(NamedTuple):
    """What an agent served, and how its controller did."""

    first: int  # number in the rack of its flow 0
    paths: Paths
    trace: DecisionTrace


@dataclass(frozen=True)
class Recorded:
    """What one agent's controller was told and what it decided; flows are numbered within the agent."""

    first: int
    paths: Paths
    columns: dict[str, NDArray[Any]]  # one entry per row; 0 where a column says nothing
    hops: NDArray[np.int64]  # per row, widths of the INT stack; -1 for none
    cut: bool = False  # there were more calls than were kept


def encode(agents: Sequence[Served], srcs: bool = False) -> NDArray[np.uint8]:
    """The file's bytes; with what only Bolt's switches say, if any controller wants ``srcs``."""
    traces = [one.trace for one in agents]
    rows = sum(one.rows for one in traces)
    encoder = Encoder(max(one.widest for one in traces), srcs, max(one.largest for one in traces), rows, len(agents))
    for number, one in enumerate(traces):
        encoder.add(one, number)
    return encoder.file(agents)


class Encoder:
    """Makes the file's content of what agents hold, piece by piece.

    INT tells of ``hops`` hops, no call is about more than ``largest`` flows, and there are at most so many ``rows``.
    """

    def __init__(self, hops: int, srcs: bool, largest: int, rows: int, agents: int = 1) -> None:
        self._rows, self._srcs, self._agent = Rows(max(_BLOCK, largest), hops), srcs, 0
        self._values = rows + _OVERHEAD * (agents + 1 + rows // self._rows.size)  # at most, of a column
        self._writer: Any = None

    def add(self, trace: DecisionTrace, agent: int = 0) -> int:
        """What it holds now: how many rows."""
        if agent != self._agent:
            self._write()
            self._agent = agent
        before, done = self._rows.added, self._rows.fill(trace, 0)
        while done < trace.held_calls:
            self._write()
            done += self._rows.fill(trace, done)
        return self._rows.added - before

    def _write(self) -> None:
        import pyarrow as pa
        from pyarrow import parquet

        arrays = _arrays(self._agent, self._rows.block(), self._srcs)
        if self._writer is None:
            fields = [
                pa.field(name, one.type, name not in _ALWAYS, {"unit": _unit(name)}) for name, one in arrays.items()
            ]
            self._memory = large_pages(_VALUE * self._values * len(fields))
            self._sink = pa.FixedSizeBufferWriter(pa.py_buffer(self._memory))
            self._writer = parquet.ParquetWriter(self._sink, pa.schema(fields), **_written_as(fields))
        self._writer.write_table(pa.Table.from_arrays(list(arrays.values()), schema=self._writer.schema))
        self._rows.clear()

    def file(self, agents: Sequence[Served]) -> NDArray[np.uint8]:
        """All of its bytes; what the agents hold was added."""
        self._write()
        told = [{"first": one.first, "paths": _paths_as_dict(one.paths), "cut": one.trace.cut} for one in agents]
        self._writer.add_key_value_metadata({_ABOUT.decode(): json.dumps({"agents": told})})
        self._writer.close()
        return np.frombuffer(self._memory, np.uint8, self._sink.tell())


def _written_as(fields: Sequence[Any]) -> dict[str, Any]:
    """Encodings that are small and quick, measured on runs of 64 flows, and that most readers know."""
    import pyarrow as pa

    floats = [one.name for one in fields if pa.types.is_floating(one.type)]
    split = {name for name in floats if name.rpartition("_")[2] not in _WHOLE}
    encoding = {one.name: "BYTE_STREAM_SPLIT" if one.name in (*split, *_COUNTING) else "PLAIN" for one in fields}
    compression = {one.name: "snappy" if one.name in split else "lz4" for one in fields}
    return {
        "compression": compression | {"time": "none"},  # nothing makes it smaller
        "use_dictionary": list(_LISTED),
        "column_encoding": {name: one for name, one in encoding.items() if name not in _LISTED},
        "write_statistics": False,  # they cost as much as compressing
        "write_batch_size": _BLOCK,
    }


def kept(agents: Sequence[Served]) -> dict[str, Any]:
    """For the manifest."""
    cut = [f"cut for agent {number} after {one.trace.rows} rows" for number, one in enumerate(agents) if one.trace.cut]
    why = f"{', '.join(cut)}; raise record.decisions to keep more" if cut else ""
    return {
        "calls": sum(one.trace.calls for one in agents),
        "rows": sum(one.trace.rows for one in agents),
        "cut": why,
    }


def _arrays(agent: int, block: Block, srcs: bool) -> dict[str, Any]:
    import pyarrow as pa

    arrays = {name: arrow.bitmapped(values, valid) for name, values, valid in block if srcs or name != INC}
    kind = pa.DictionaryArray.from_arrays(arrays.pop("kind"), arrow.strings(KINDS if srcs else KINDS[:SRC]))
    return {"agent": arrow.numbers(np.full(len(kind), agent, np.int8)), "kind": kind, **arrays}


def _unit(name: str) -> str:
    if name in ("agent", "kind", "call", "flow"):
        return ""
    hop = _HOP_UNITS.get(name.partition("_")[2], "") if name.startswith("hop") else ""
    return hop or {"timer": "s", "sent_bytes": "B"}.get(name) or UNITS.get(name, "1")


def _paths_as_dict(paths: Paths) -> dict[str, Any]:
    """Columns as runs of equal values: [how many, value]."""
    runs = {}
    for name in _PATH_COLUMNS:
        column = getattr(paths, name)
        starts = np.concatenate(([0], np.flatnonzero(np.diff(column)) + 1))
        runs[name] = [
            [int(n), column[at].item()] for at, n in zip(starts, np.diff([*starts, len(column)]), strict=True)
        ]
    return {**runs, **{name: getattr(paths, name) for name in _OF_ALL}}


def _paths_of(data: dict[str, Any]) -> Paths:
    columns: dict[str, Any] = {
        name: np.repeat([value for _, value in data[name]], [n for n, _ in data[name]]) for name in _PATH_COLUMNS
    }
    return Paths(**columns, **{name: data[name] for name in _OF_ALL})


def read(folder: Path) -> list[Recorded]:
    """What `encode` was given. Raises BadInput if the run has no trace, or it is damaged."""
    file = folder / DECISIONS
    if not file.is_file():
        raise BadInput(f"{folder} has no {DECISIONS}: it was run with record.decisions=0, or by an older testbed")
    table = read_table(file)
    try:
        about = json.loads((table.schema.metadata or {})[_ABOUT])
        return [_recorded(one, table, number) for number, one in enumerate(about["agents"])]
    except (KeyError, ValueError, TypeError) as error:
        raise BadInput(f"{file} is damaged: {type(error).__name__}: {error}") from None


def _recorded(about: dict[str, Any], table: Any, number: int) -> Recorded:
    import pyarrow.compute as pc

    own = table.filter(arrow.numbers(arrow.values(table["agent"]) == number)).combine_chunks()
    kinds = pc.index_in(own["kind"].cast("string"), value_set=arrow.strings(KINDS))
    hops = np.full(len(own), -1)
    columns: dict[str, NDArray[Any]] = {"kind": _plain(kinds)}
    for name in own.column_names:
        if name in ("agent", "kind"):
            continue
        if name.endswith(f"_{HOP[0]}"):
            there = arrow.values(own[name].is_valid().cast("uint8")) == 1
            hops[there] = int(name.removeprefix("hop").partition("_")[0])
        columns[name] = _plain(own[name])
    columns.setdefault(INC, np.zeros(len(own), np.int64))
    return Recorded(about["first"], _paths_of(about["paths"]), columns, hops, bool(about.get("cut")))


def _plain(column: Any) -> NDArray[Any]:
    nothing = arrow.numbers(np.zeros(1))[0].cast(column.type)
    values: NDArray[Any] = arrow.values(column.fill_null(nothing))
    return values.astype(np.int64) if values.dtype.kind == "i" else values
