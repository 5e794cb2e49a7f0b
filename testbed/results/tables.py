"""A run's measurements as Parquet tables: long format, with the unit of each column in the field's metadata."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from testbed.experiment.traffic.tasks import Kind
from testbed.results import arrow
from testbed.results.figures import flow_goodput, window
from testbed.results.record import Groups, Histogram, Measured, Queues, RunRecord
from testbed.results.tuner_log import TunerLog

TUNERS = "tuners.parquet"
STEPS = "steps.parquet"
QUEUES, QUEUE_SERIES = "queues.parquet", "queue_series.parquet"
GROUPS = "groups.parquet"
OF_A_SLOT = ("time", "switch", "state")  # its columns, beside one for every number that a tuner reported
TABLES = ("flows", "flow_series", "ports", "port_series", "histograms")

UNITS = {
    "time": "s", "start": "s", "begin": "s", "length": "s", "finished": "s", "base_rtt": "s", "rtt": "s",
    "size": "B", "acked_bytes": "B", "wire_bytes": "B", "window": "B", "inflight": "B",
    "tx_bytes": "B", "queue": "B", "peak_queue": "B", "kmin": "B", "kmax": "B", "queue_area": "B s",
    "buffer": "B", "line_rate": "bit/s", "path_rate": "bit/s", "rate": "bit/s", "goodput": "bit/s",
    "pmax": "1", "count": "1",
}  # fmt: skip

_ROWS_AT_ONCE = 1 << 20  # bounds the memory of writing thousands of flows


class Pairs(Protocol):
    """Flows that have a sender and a receiver."""

    @property
    def src(self) -> list[str]: ...
    @property
    def dst(self) -> list[str]: ...


def flow_names(flows: Pairs) -> list[str]:
    """``h1-h65`` for each flow, and ``h1-h65#2`` for the second of a pair of hosts."""
    seen: dict[str, int] = {}
    names = []
    for src, dst in zip(flows.src, flows.dst, strict=True):
        pair = f"{src}-{dst}"
        seen[pair] = seen.get(pair, 0) + 1
        names.append(pair if seen[pair] == 1 else f"{pair}#{seen[pair]}")
    return names


def series_names(record: Measured) -> list[str]:
    """The names of the flows that have series, in the order of their columns."""
    names = flow_names(record.flows)
    return [names[number] for number in record.series_flows.tolist()]


def write_tables(folder: Path, record: RunRecord) -> None:
    """Write one file per entry of `TABLES` into ``folder``.

    And `TUNERS` if a tuner was ever asked, `STEPS` of jobs, `QUEUES` and `QUEUE_SERIES` where ports have several.
    """
    _write(folder / "flows.parquet", [_flows(record)])
    _write(
        folder / "flow_series.parquet",
        _long(record.flow_series, "flow", series_names(record)),
    )
    _write(folder / "ports.parquet", [_ports(record)])
    _write(folder / "port_series.parquet", _long(record.port_series, "port", record.ports))
    _write(folder / "histograms.parquet", [_histograms(record)])
    if record.queues:
        _write(folder / QUEUES, [_queues(record.ports, record.queues)])
        _write(folder / QUEUE_SERIES, _long(record.queues.series, "queue_of", record.queues.name))
    if record.groups:
        _write(folder / GROUPS, [_groups(record.ports, record.groups)])
    if asked := [one for one in record.tuners if one.time]:
        _write(folder / TUNERS, [_tuners(asked)])
    if record.jobs:
        _write(folder / STEPS, [_steps(record)])


def _flows(record: RunRecord) -> dict[str, Any]:
    columns: dict[str, Any] = {"flow": flow_names(record.flows)}
    columns |= {field.name: getattr(record.flows, field.name) for field in fields(record.flows)}
    return columns | {"goodput": flow_goodput(record, window(record))}


def _ports(record: RunRecord) -> dict[str, Any]:
    named = {"port": record.ports, "neighbour": record.port_neighbour}
    return named | {"rate": record.port_rate, "buffer": record.port_buffer}


def _queues(ports: Sequence[str], queues: Queues) -> dict[str, Any]:
    return {
        "queue_of": queues.name,
        "port": [ports[port] for port in queues.port.tolist()],
        "number": queues.number,
        "classes": queues.classes,
    }


def _groups(ports: Sequence[str], groups: Groups) -> dict[str, Any]:
    columns = {one.name: getattr(groups, one.name) for one in fields(groups)}
    return {"group": columns.pop("name")} | columns | {"port": [ports[port] for port in groups.port.tolist()]}


def _long(series: Any, key: str, names: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Blocks of rows ordered by time, then by name: every column but time has shape (t, n)."""
    import pyarrow as pa

    columns = [field.name for field in fields(series) if field.name != "time"]
    times_at_once = max(_ROWS_AT_ONCE // max(len(names), 1), 1)
    index = np.arange(len(names), dtype=np.int32)
    for first in range(0, max(len(series.time), 1), times_at_once):
        part = slice(first, first + times_at_once)
        time = series.time[part]
        key_column = pa.DictionaryArray.from_arrays(arrow.numbers(np.tile(index, len(time))), arrow.strings(names))
        block: dict[str, Any] = {"time": np.repeat(time, len(names)), key: key_column}
        yield block | {name: np.ascontiguousarray(getattr(series, name)[part]).reshape(-1) for name in columns}


def _histograms(record: RunRecord) -> dict[str, Any]:
    named: list[tuple[str, str, Histogram]] = [
        ("queue", "B", record.queue_histogram),
        ("rtt", "s", record.rtt_histogram),
        ("message", "s", record.message_histogram),
        ("pacing_lag", "s", record.late.pacing_lag.histogram),
        ("feedback_lag", "s", record.late.feedback_lag.histogram),
    ]
    if record.queues:
        here = np.flatnonzero(record.queues.port == record.bottleneck).tolist()
        edges = record.queue_histogram.edges
        named += [(record.queues.name[row], "B", Histogram(edges, record.queues.found[row])) for row in here]
    return {
        "histogram": [name for name, _, one in named for _ in one.counts],
        "unit": [unit for _, unit, one in named for _ in one.counts],
        "lower": np.concatenate([one.edges[:-1] for _, _, one in named]),
        "upper": np.concatenate([one.edges[1:] for _, _, one in named]),
        "count": np.concatenate([one.counts for _, _, one in named]),
    }


def _tuners(asked: Sequence[TunerLog]) -> dict[str, Any]:
    """A row per switch and slot. The thresholds themselves are in the ports' series, what they cost in the manifest."""
    names = dict.fromkeys(name for one in asked for report in one.reports for name in report if name not in OF_A_SLOT)
    columns: dict[str, Any] = {
        "time": np.concatenate([one.time for one in asked]),
        "switch": [one.switch for one in asked for _ in one.time],
        "state": [state for one in asked for state in one.states],
    }
    return columns | {name: np.concatenate([one.reported(name) for one in asked]) for name in names}


def _steps(record: RunRecord) -> dict[str, Any]:
    """A row per step of a rank: its computing, and the end of its part of an iteration."""
    steps, jobs = record.steps, record.jobs
    told = np.flatnonzero((steps.job >= 0) & np.isin(steps.kind, (Kind.COMPUTE, Kind.DONE)))
    job, rank = steps.job[told].tolist(), steps.rank[told].tolist()
    return {
        "job": [jobs[number].name for number in job],
        "iteration": steps.iteration[told],
        "rank": steps.rank[told],
        "host": [jobs[number].hosts[one] for number, one in zip(job, rank, strict=True)],
        "kind": [Kind(kind).name.lower() for kind in steps.kind[told].tolist()],
        "begin": steps.begin[told],
        "length": steps.length[told],
    }


def _write(file: Path, blocks: Iterator[dict[str, Any]] | list[dict[str, Any]]) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    writer = None
    try:
        for block in blocks:
            plain = arrow.table(block)
            schema = pa.schema([field.with_metadata({"unit": _unit(field)}) for field in plain.schema])
            listed = [
                field.name for field in schema if not pa.types.is_floating(field.type)
            ]  # no two samples are equal
            writer = writer or parquet.ParquetWriter(file, schema, compression="zstd", use_dictionary=listed)
            writer.write_table(pa.Table.from_arrays(plain.columns, schema=schema))
    finally:
        if writer is not None:
            writer.close()


def _unit(field: Any) -> str:
    """Counters of packets and events are plain numbers; names have no unit."""
    import pyarrow as pa

    text = pa.types.is_string(field.type) or pa.types.is_dictionary(field.type)
    unknown = "" if text or field.name in ("lower", "upper") else "1"
    return UNITS.get(field.name, unknown)
