"""Flows from a CSV file."""

from __future__ import annotations

import csv
import math
from pathlib import Path
from typing import Literal, Self

from pydantic import Field, PrivateAttr, model_validator

from testbed.base.inputs import Input, digest
from testbed.experiment.block import refuse
from testbed.experiment.traffic.flow import Flow
from testbed.experiment.traffic.pattern import Context, Listed
from testbed.units import SIZE_UNITS, TIME_UNITS, parse

NEEDED = ("src", "dst", "bytes", "start")
ALLOWED = (*NEEDED, "label")
UNITS = {"bytes": SIZE_UNITS, "start": TIME_UNITS}
USUAL = {"bytes": "B", "start": "s"}


class TraceFile(Listed):
    """Flows from a CSV file with a first line `src,dst,bytes,start`.

    Hosts are h1, h2, ...; bytes of user data, empty for an endless flow; start in nominal seconds. Other units stand
    in the first line (`bytes_kB`, `start_us`) or behind a number (`1 MB`). A column `label` may name the flows in the
    results.
    """

    pattern: Literal["trace"] = Field(description="`trace`")
    file: str = Field(description="Path of the CSV file, relative to the experiment file.")

    _flows: list[Flow] = PrivateAttr(default_factory=list)
    _sha256: str = PrivateAttr(default="")

    @model_validator(mode="after")
    def _readable(self) -> Self:
        try:
            self._flows, self._sha256 = read(self._path)
        except ValueError as error:
            refuse("file", str(error))
        return self

    @property
    def _path(self) -> Path:
        return Path(self.file).expanduser()

    def hosts_needed(self) -> int:
        """Up to the highest number."""
        return max(int(name[1:]) for flow in self._flows for name in (flow.src, flow.dst))

    def flow_count(self, _context: Context) -> float:
        """Exactly."""
        return len(self._flows)

    def expand(self, _context: Context) -> list[Flow]:
        """The flows, in the order of the file."""
        return list(self._flows)

    def inputs(self) -> list[Input]:
        """The trace."""
        return [Input(key="file", file=self._path, sha256=self._sha256)]

    @property
    def hosts_key(self) -> str:
        """The key that asks for hosts."""
        return "file"

    flows_key = start_key = hosts_key


def read(file: Path) -> tuple[list[Flow], str]:
    """The flows of a file, and its digest. Raises ValueError with the line of the first bad row."""
    try:
        content = file.read_bytes()
        text = content.decode("utf-8-sig")  # spreadsheets write a byte order mark
    except OSError as error:
        raise ValueError(f"cannot read {file}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ValueError(f"cannot read {file}: it is not UTF-8 text") from None
    rows = csv.DictReader(text.splitlines(), restkey="too many", skipinitialspace=True, strict=True)
    flows, line = [], 0  # the last one that could be read
    try:
        columns = list(rows.fieldnames or [])
        line = 1
        rows.fieldnames, units = _columns(columns)
        for row in rows:
            line = rows.line_num
            flows.append(_flow(row, units))
    except csv.Error as error:  # an open quote takes the lines after it as well
        raise ValueError(f"{file}, from line {line + 1} on: {error}; is there a stray quote?") from None
    except ValueError as error:
        raise ValueError(f"{file}, line {line}: {error}") from None
    if not flows:
        raise ValueError(f"{file}: no flow in it")
    return flows, digest(content)


def _columns(columns: list[str]) -> tuple[list[str], dict[str, str]]:
    """Names without their units, and the units of those that have one."""
    names, units = [], dict(USUAL)
    for column in columns:
        name, _, unit = column.partition("_")
        if unit and unit in UNITS.get(name, {}):
            units[name] = unit
        names.append(name if units.get(name) == unit else column)
    if not set(NEEDED) <= set(names) <= set(ALLOWED) or len(set(names)) < len(names):
        raise ValueError(f"expected the columns {','.join(NEEDED)} (and perhaps label), got {','.join(columns)}")
    return names, units


def _flow(row: dict[str, str | None], units: dict[str, str]) -> Flow:
    if "too many" in row or any(value is None for value in row.values()):
        raise ValueError(f"expected {len(row) - ('too many' in row)} columns")
    said = {key: (value or "").strip() for key, value in row.items()}
    for key in ("src", "dst"):
        if not (said[key].startswith("h") and said[key][1:].isdecimal() and said[key][1] != "0"):
            raise ValueError(f"{key} '{said[key]}' is not a host; hosts are named h1, h2, h3, ...")
    if said["src"] == said["dst"]:
        raise ValueError(f"a flow needs two hosts, but src and dst are both '{said['src']}'")
    size = _number(said["bytes"], "bytes", units, 1) if said["bytes"] else math.inf
    return Flow(said["src"], said["dst"], size, _number(said["start"], "start", units, 0), said.get("label", ""))


def _number(text: str, key: str, units: dict[str, str], least: float) -> float:
    allowed = UNITS[key]
    try:
        number = parse(text if text[-1:].isalpha() else f"{text} {units[key]}", allowed, f"a number of {key}")
    except ValueError:
        number = math.nan
    if not least <= number < math.inf:
        raise ValueError(f"{key} '{text}' is not a number of at least {least:g}, with or without {', '.join(allowed)}")
    return number
