"""Flows from a file: CSV, or flows of a simulator (`hpcc_flows`, `htsim_matrix`). What it is tells its content."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal, Self

from pydantic import Field, PrivateAttr, model_validator

from testbed.base.inputs import Input, once
from testbed.experiment.block import refuse
from testbed.experiment.lines import Line, first
from testbed.experiment.topology import hpcc_file, htsim_file
from testbed.experiment.traffic import cdf_text, hpcc_flows, htsim_matrix
from testbed.experiment.traffic.flow import Flow
from testbed.experiment.traffic.jobs import goal_binary, workload_file
from testbed.experiment.traffic.numbered import NumberedFlows
from testbed.experiment.traffic.pattern import Context, Keys, Pattern
from testbed.experiment.traffic.plan import Plan
from testbed.units import SIZE_UNITS, TIME_UNITS, parse

NEEDED = ("src", "dst", "bytes", "start")
ALLOWED = (*NEEDED, "label")
MOST = 1 << 20  # the virtual engine's
UNITS = {"bytes": SIZE_UNITS, "start": TIME_UNITS}
USUAL = {"bytes": "B", "start": "s"}
ELSEWHERE: tuple[tuple[Callable[[Line], bool], str], ...] = (
    (hpcc_file.is_one, "a topology of the HPCC family; say rack: {kind: custom, file: ...}"),
    (htsim_file.is_one, "a topology of htsim; say rack: {kind: custom, file: ...}"),
    (workload_file.is_one, "a workload of SimAI; say pattern: simai"),
    (cdf_text.is_one, "a distribution of flow sizes; say pattern: poisson, and sizes"),
    (lambda begin: begin.words[:1] == ["num_ranks"], "a GOAL schedule; say pattern: goal"),
)


class TraceFile(Pattern):
    """Flows from a file: CSV, flow.txt of the HPCC family, or a connection matrix of htsim.

    CSV has a first line `src,dst,bytes,start`, perhaps with `label`. Hosts are h1, h2, ...; bytes are user data, empty
    for an endless flow; start is in nominal seconds. Other units stand in the first line (`bytes_kB`, `start_us`) or
    behind a number (`1 MB`). In the other files node n is h(n+1), or the host that `rack.file` has by that number.
    """

    pattern: Literal["trace"] = Field(description="`trace`")
    file: str = Field(description="Its path, relative to this file.")

    _numbered: NumberedFlows | None = PrivateAttr(default=None)
    _plan: Plan = PrivateAttr()
    _input: Input = PrivateAttr()

    @model_validator(mode="after")
    def _readable(self) -> Self:
        try:
            found = read(self._path)
            self._input = Input.of("file", self._path, form_of(found))
        except OSError as error:
            refuse("file", f"cannot read {self._path}: {error.strerror}")
        except ValueError as error:
            refuse("file", str(error))
        if isinstance(found, NumberedFlows):
            self._numbered, self._plan = found, found.plan()
        else:
            self._plan = Plan.of(found)
        return self

    @property
    def _path(self) -> Path:
        return Path(self.file).expanduser()

    def named(self, hosts: Mapping[str, str]) -> Self:
        """With the hosts of the rack's file, if that has numbers as well."""
        numbers = {theirs: ours for theirs, ours in hosts.items() if theirs.isdecimal()}
        if self._numbered is None or not numbers:
            return self
        made = self.model_copy()
        made._plan = self._numbered.plan(numbers)
        return made

    @property
    def last_start(self) -> float:
        """Of a flow that waits for none, s."""
        return float(self._plan.start.max())

    def hosts_needed(self) -> int:
        """Up to the highest number."""
        return int(max(self._plan.src_number.max(), self._plan.dst_number.max()))

    def flow_count(self, _context: Context) -> float:
        """Exactly."""
        return len(self._plan)

    def plan(self, _context: Context) -> Plan:
        """The flows, in the order of the file."""
        return self._plan

    def inputs(self) -> list[Input]:
        """The trace."""
        return [self._input]

    @property
    def blamed(self) -> Keys:
        """The file says it all."""
        return Keys("file", "file", "file")


def form_of(found: list[Flow] | NumberedFlows) -> str:
    """What a file was taken for."""
    form, notes = (found.form, found.notes) if isinstance(found, NumberedFlows) else ("flows in CSV", ())
    return "; ".join((f"{form}: {len(found):,} flows", *notes))


@once
def read(file: Path) -> list[Flow] | NumberedFlows:
    """The flows of a file. Raises OSError, or ValueError with the line of what is wrong."""
    if goal_binary.is_one(file):
        raise ValueError(f"{file}: this is a GOAL schedule; say pattern: goal")
    begin = first(file)
    if htsim_matrix.is_one(begin):
        return htsim_matrix.read(file)
    if hpcc_flows.is_one(begin):
        return hpcc_flows.read(file)
    for is_one, instead in ELSEWHERE:
        if is_one(begin):
            raise ValueError(f"{file}: this is {instead}")
    return _csv(file)


def _csv(file: Path) -> list[Flow]:
    """Raises ValueError with the line of the first bad row."""
    text = file.read_text(encoding="utf-8-sig")  # spreadsheets write a byte order mark
    rows = csv.DictReader(text.splitlines(), restkey="too many", skipinitialspace=True, strict=True)
    flows: list[Flow] = []
    line = 0  # the last one that could be read
    try:
        columns = list(rows.fieldnames or [])
        line = 1
        rows.fieldnames, units = _columns(columns)
        for row in rows:
            line = rows.line_num
            if len(flows) == MOST:
                raise ValueError(f"expected at most {MOST:,} flows")
            flows.append(_flow(row, units))
    except csv.Error as error:  # an open quote takes the lines after it as well
        raise ValueError(f"{file}, from line {line + 1} on: {error}; is there a stray quote?") from None
    except ValueError as error:
        raise ValueError(f"{file}, line {line}: {error}") from None
    if not flows:
        raise ValueError(f"{file}: no flow in it")
    return flows


def _columns(columns: list[str]) -> tuple[list[str], dict[str, str]]:
    """Names without their units, and the units of those that have one."""
    names, units = [], dict(USUAL)
    for column in columns:
        name, _, unit = column.partition("_")
        if unit and unit in UNITS.get(name, {}):
            units[name] = unit
        names.append(name if units.get(name) == unit else column)
    if not set(NEEDED) <= set(names) <= set(ALLOWED) or len(set(names)) < len(names):
        needed = f"the columns {','.join(NEEDED)} (and perhaps label)"
        needed += "" if set(NEEDED) & set(names) else ", or a file of another tool as docs/howto/files.md has them"
        raise ValueError(f"expected {needed}, got {','.join(columns) or 'nothing'}")
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
