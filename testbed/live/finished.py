"""A finished run as OpenMetrics with time stamps, under the names of a live one, so that Prometheus can load it.

A live run is looked at five times a second of wall time. So are the samples of a finished one: they are that far apart,
from its start on, whatever they are in nominal time; `testbed_dilation_ratio` says how much slower that is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime

import numpy as np

from testbed.base.arrays import Floats
from testbed.live.names import CONSTANTS, METRICS
from testbed.results.folder import Results
from testbed.results.measured import restore

APART = 0.2  # s of wall time between two samples
MOST = 1500  # samples: five minutes; of more every second, third, ... is taken
TIME, DILATION = "testbed_nominal_time_seconds", "testbed_dilation_ratio"
PORT = {one.name: one.column for one in METRICS if one.per == "port" and isinstance(one.column, str)}
FLOW = {
    "testbed_flow_acked_bytes": "acked_bytes",
    "testbed_flow_window_bytes": "window",
    "testbed_flow_inflight_bytes": "inflight",
    "testbed_flow_rate_bytes_per_second": "rate",
}
KINDS = {one.name: (one.kind, one.help) for one in METRICS} | {one.name: ("gauge", one.help) for one in CONSTANTS}
ESCAPED = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})


def open_metrics(results: Results, run: str) -> Iterator[str]:
    """Line by line; ``run`` is the name of its folder, and the ``instance`` by which dashboards tell runs apart."""
    measured = restore(results)

    def labels(**said: str) -> str:
        named = {"instance": run, **said}
        return "{" + ",".join(f'{key}="{value.translate(ESCAPED)}"' for key, value in named.items()) + "}"

    series, flows = measured.port_series, measured.flow_series
    chosen = np.arange(0, len(series.time), -(-len(series.time) // MOST))
    begin = datetime.fromisoformat(results.manifest.created).timestamp()
    stamps = begin + APART * np.arange(len(chosen))
    nominal = series.time[chosen]
    slower = float(stamps[-1] - stamps[0]) / max(float(nominal[-1] - nominal[0]), 1e-12) if len(chosen) > 1 else 1.0

    def family(name: str, columns: Mapping[str, Floats], kind: str = "", text: str = "") -> Iterator[str]:
        kind, text = (kind, text) if kind else KINDS[name]
        yield f"# TYPE {name} {kind}"
        yield f"# HELP {name} {text.translate(ESCAPED)}"
        suffix = {"counter": "_total", "info": "_info"}.get(kind, "")
        for labels, values in columns.items():
            said = f"{name}{suffix}{labels}"
            for value, stamp in zip(values.tolist(), stamps.tolist(), strict=True):
                if value == value:  # noqa: PLR0124 - not nan: there was no sample
                    yield f"{said} {_shown(value)} {stamp:.3f}"

    always = np.ones(len(chosen))
    who = results.manifest
    run_labels = labels(
        run=run,
        experiment=str(who.experiment.get("name", "")),
        controller=who.controller.name,
        tuner=who.tuner.name if who.tuner else "",
        seed=str(who.seed),
    )
    yield from family("testbed_run", {run_labels: always}, "info", "The run: its folder, experiment and plugins.")
    ports = [labels(port=name) for name in measured.ports]
    about = [
        labels(port=name, switch=name.rpartition("-")[0], to=to)
        for name, to in zip(measured.ports, measured.port_neighbour, strict=True)
    ]
    yield from family("testbed_port", dict.fromkeys(about, always), "info", "The switch of a port, and its neighbour.")
    build = labels(version=who.versions["testbed"])
    yield from family("testbed_build", {build: always}, "info", "The version of testbed that it was run with.")
    yield from family(DILATION, {labels(): always * slower}, "gauge", "Wall seconds per nominal second, as loaded.")
    yield from family(TIME, {labels(): nominal})
    spans = {"run_duration": measured.duration, "run_warmup": measured.warmup, "base_rtt": results.summary.base_rtt}
    for name, seconds in spans.items():
        yield from family(f"testbed_{name}_seconds", {labels(): always * seconds})
    for name, values in (("capacity_bytes_per_second", measured.port_rate / 8), ("buffer_bytes", measured.port_buffer)):
        columns = {label: always * value for label, value in zip(ports, values.tolist(), strict=True)}
        yield from family(f"testbed_port_{name}", columns)
    for name, column in PORT.items():
        yield from family(name, _columns(ports, getattr(series, column)[chosen]))
    names = results.tables["flows"]["flow"].to_pylist()
    recorded = measured.series_flows.tolist()
    own = [labels(flow=names[number]) for number in recorded]
    ends = [labels(flow=names[one], src=measured.flows.src[one], dst=measured.flows.dst[one]) for one in recorded]
    yield from family("testbed_flow", dict.fromkeys(ends, always), "info", "Sender and receiver of a flow.")
    for name, column in FLOW.items():
        each = 1 / 8 if column == "rate" else 1.0
        yield from family(name, _columns(own, getattr(flows, column)[chosen] * each))
    yield "# EOF"


def _columns(labels: list[str], table: Floats) -> dict[str, Floats]:
    return {label: table[:, number] for number, label in enumerate(labels)}


def _shown(value: float) -> str:
    return {np.inf: "+Inf", -np.inf: "-Inf"}.get(value) or repr(float(value))
