"""What a results folder gives back of a run: all that the report needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields as fields_of
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from testbed.errors import BadInput
from testbed.results import arrow
from testbed.results.folder import Results
from testbed.results.record import FlowSeries, FlowTable, Histogram, Measured, PortSeries
from testbed.units import TIME_UNITS, parse

if TYPE_CHECKING:
    import pyarrow as pa

Series = TypeVar("Series", FlowSeries, PortSeries)


def restore(results: Results) -> Measured:
    """What was measured, from the tables of a results folder. Raises BadInput if they contradict each other."""
    manifest, summary, tables = results
    try:
        ports, port_series = series_of(tables["port_series"], "port", PortSeries)
        names, flow_series = series_of(tables["flow_series"], "flow", FlowSeries)
        numbers = {name: number for number, name in enumerate(tables["flows"]["flow"].to_pylist())}
        if not numbers.keys() >= set(names):
            raise ValueError("flows.parquet and flow_series.parquet are about different flows")
        if tables["ports"]["port"].to_pylist() != ports:
            raise ValueError("ports.parquet and port_series.parquet are about different ports")
        flows, port_rate = _flows(tables["flows"]), column_of(tables["ports"], "rate")
        if any((rate <= 0).any() for rate in (flows.line_rate, flows.path_rate, port_rate)):
            raise ValueError("a rate of a link is not above 0")
        return Measured(
            duration=summary.duration,
            warmup=manifest.rest.get("start", parse(manifest.experiment["time"]["warmup"], TIME_UNITS, "a time")),
            ports=ports,
            port_neighbour=column_of(tables["ports"], "neighbour"),
            port_rate=port_rate,
            port_buffer=column_of(tables["ports"], "buffer"),
            bottleneck=ports.index(summary.bottleneck),
            flows=flows,
            flow_series=flow_series,
            series_flows=np.array([numbers[name] for name in names], np.int64),
            port_series=port_series,
            queue_histogram=_histogram(tables["histograms"], "queue"),
            rtt_histogram=_histogram(tables["histograms"], "rtt"),
            message_histogram=_histogram(tables["histograms"], "message"),
            events=manifest.events,
        )
    except (KeyError, ValueError, TypeError, IndexError) as error:
        raise BadInput(
            f"the results folder is damaged, its files do not fit together: {type(error).__name__}: {error}"
        ) from None


def _flows(table: pa.Table) -> FlowTable:
    return FlowTable(**{field.name: column_of(table, field.name) for field in fields_of(FlowTable)})


def series_of(table: pa.Table, key: str, form: type[Series]) -> tuple[list[str], Series]:
    """The reverse of `testbed.results.tables`: rows by time and name to columns of shape (t, n), and the names."""
    names = list(dict.fromkeys(_names(table[key])))
    columns: dict[str, Any] = {field.name: column_of(table, field.name) for field in fields_of(form)}
    time = columns.pop("time")[:: max(len(names), 1)]
    shaped = {name: values.reshape(len(time), len(names)) for name, values in columns.items()}
    return names, form(time=time, **shaped)


def _names(column: Any) -> Sequence[str]:
    """In the order of their columns: the dictionary's, or else as they come."""
    import pyarrow as pa

    if pa.types.is_dictionary(column.type) and column.num_chunks:
        return list(column.unify_dictionaries().chunk(0).dictionary.to_pylist())
    return list(column.to_pylist())


def column_of(table: pa.Table, name: str) -> Any:
    """Text as a list, numbers as an array."""
    import pyarrow as pa

    column = table[name]
    return column.to_pylist() if pa.types.is_string(column.type) else arrow.values(column)


def _histogram(table: pa.Table, name: str) -> Histogram:
    own = table.filter(arrow.numbers(np.array(table["histogram"].to_pylist()) == name))
    edges = np.append(arrow.values(own["lower"]), arrow.values(own["upper"])[-1])
    return Histogram(edges, arrow.values(own["count"]))
