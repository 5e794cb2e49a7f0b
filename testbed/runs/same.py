"""Whether two runs left the same bits, and where first not: tables, captures, and the summary but for wall time."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from testbed.capture.reader import Frame, Reader
from testbed.results.flat import flat
from testbed.results.folder import DECISIONS, SUMMARY, data_files, read_table, sha256
from testbed.results.summary import FIGURES
from testbed.results.tables import QUEUE_SERIES, QUEUES, STEPS, TABLES, TUNERS

WALL = frozenset(name for name, one in FIGURES.items() if one.wall)
NOT_THERE = "not there"
ORDER = (
    DECISIONS,
    "flow_series.parquet",
    "port_series.parquet",
    QUEUE_SERIES,
    QUEUES,
    TUNERS,
    STEPS,
    *(f"{name}.parquet" for name in TABLES),
)
"""Causes before consequences."""


class Difference(NamedTuple):
    """The first one. The values are as text."""

    file: str
    place: str  # column, key or field; empty for a whole file
    row: str  # number from 0, with what else names it; empty if the place has no rows
    was: str
    now: str

    def __str__(self) -> str:
        where = ", ".join(part for part in (self.file, self.row and f"row {self.row}", self.place) if part)
        return f"{where}: was {self.was} and is {self.now}"


def figures(folder: Path) -> dict[str, Any]:
    """The summary without what is made of wall time."""
    found: dict[str, Any] = json.loads((folder / SUMMARY).read_bytes())
    return {name: value for name, value in found.items() if name not in WALL}


def compared(folder: Path) -> list[str]:
    """Names of the files that must be the same, in the order in which they are looked at."""
    return _ordered({file.name for file in data_files(folder)})


def _ordered(there: set[str]) -> list[str]:
    return [*(name for name in dict.fromkeys(ORDER) if name in there), *sorted(there - {*ORDER})]


def first_difference(was: Path, now: Path, known: Mapping[str, str] | None = None) -> Difference | None:
    """Between two results folders; None if there is none. Raises BadInput for a damaged file.

    ``known`` are SHA-256 of what the first one had, which may be gone or stored otherwise, as from a report.
    """
    known = known or {}
    for name in _ordered({*compared(was), *compared(now), *known}):
        if found := _in_file(was / name, now / name, known.get(name)):
            return found
    return _of(SUMMARY, "", flat(figures(was)), flat(figures(now)))


def other_course(was: Path, now: Path, known: Mapping[str, str] | None = None) -> Difference | None:
    """The first one between what was decided and sampled, of runs that may have had other clocks.

    For ``known`` see `first_difference`.
    """
    known = known or {}
    for name in ORDER[:3]:
        both = was / name, now / name
        if (name in known or any(one.exists() for one in both)) and (found := _in_file(*both, known.get(name))):
            return found
    return None


def _in_file(before: Path, after: Path, known: str | None) -> Difference | None:
    there = before.exists() or known is not None
    if not (there and after.exists()):
        return Difference(after.name, "", "", *("there" if one else NOT_THERE for one in (there, after.exists())))
    if before.exists():
        if before.read_bytes() == after.read_bytes():
            return None
        if found := _in_table(before, after) if before.suffix == ".parquet" else _in_capture(before, after):
            return found
        same = Difference(after.name, "", "", "stored in other bytes", "of the same values")
        return None if known == sha256(after) else same
    now = sha256(after)
    return None if known == now else Difference(after.name, "", "", f"SHA-256 {known}", f"SHA-256 {now}")


def _of(file: str, row: str, was: Mapping[str, Any], now: Mapping[str, Any]) -> Difference | None:
    for key in dict.fromkeys([*was, *now]):
        before, after = was.get(key, NOT_THERE), now.get(key, NOT_THERE)
        if repr(before) != repr(after):  # nan equals nan
            return Difference(file, key, row, str(before), str(after))
    return None


def _in_table(was: Path, now: Path) -> Difference | None:
    before, after = read_table(was), read_table(now)
    kinds = ({one.name: str(one.type) for one in table.schema} for table in (before, after))
    if other := _of(was.name, "", *kinds):
        return other
    for start in range(0, min(len(before), len(after)), _ROWS):
        parts = [table.slice(start, _ROWS) for table in (before, after)]
        if not parts[0].equals(parts[1]):  # nan does not equal nan: a look at every value decides
            rows = zip(*(part.to_pylist() for part in parts), strict=False)
            for number, (one, other_row) in enumerate(rows, start):
                if found := _of(was.name, _row(number, one), one, other_row):
                    return found
    return _of(was.name, "", {"rows": len(before)}, {"rows": len(after)})


_ROWS = 1 << 16  # at once, which bounds the memory


def _row(number: int, row: Mapping[str, Any]) -> str:
    names = [f"{name} {row[name]}" for name in ("time", "flow", "port", "switch") if name in row]
    return f"{number} ({', '.join(names)})" if names else f"{number}"


def _in_capture(was: Path, now: Path) -> Difference | None:
    for number, pair in enumerate(itertools.zip_longest(Reader(was), Reader(now))):
        before, after = (_told(one) for one in pair)
        if found := _of(was.name, f"{number}", before, after):
            return found
    return None


def _told(frame: Frame | None) -> dict[str, str]:
    return {name: value.hex() if name == "data" else value for name, value in frame._asdict().items()} if frame else {}
