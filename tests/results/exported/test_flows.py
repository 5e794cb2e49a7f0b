"""Completed flows in the forms of simulators."""

from __future__ import annotations

import math
from pathlib import Path

from testbed.results import folder
from testbed.results.exported.flows import fct, htsim
from testbed.results.folder import Results
from testbed.results.measured import restore
from tests.support.recorded import mine, written


def completed(path: Path) -> Results:
    """A run of which all flows but the first were completed, the last of them first."""
    results = folder.load(written(path / "run", mine(path)))
    flows = results.tables["flows"]
    count = flows.num_rows
    ends = [math.nan, *(1e-3 - 1e-5 * n for n in range(1, count))]
    for name, values in (("finished", ends), ("start", [0.0] * count), ("size", [2000.0 + n for n in range(count)])):
        flows = flows.set_column(flows.schema.get_field_index(name), flows.schema.field(name), [values])
    experiment = results.manifest.experiment | {"traffic": {"payload": "1 kB"}}
    manifest = results.manifest.model_copy(update={"experiment": experiment})
    return results._replace(manifest=manifest, tables={**results.tables, "flows": flows})


def test_rows_are_the_flows_that_were_completed(tmp_path: Path) -> None:
    results = completed(tmp_path)
    flows = restore(results).flows
    rows = [line.split() for line in fct(results)]
    done = sorted((end, flow) for flow, end in enumerate(flows.finished.tolist()) if end == end)  # noqa: PLR0124
    assert len(rows) == len(done) == len(list(htsim(results))) > 0
    for row, (end, flow) in zip(rows, done, strict=True):
        assert row[0] == f"{0x0B000001 + 256 * (int(flows.src[flow][1:]) - 1):08x}"
        assert row[1] == f"{0x0B000001 + 256 * (int(flows.dst[flow][1:]) - 1):08x}"
        assert [int(row[4]), int(row[5])] == [round(flows.size[flow]), round(flows.start[flow] * 1e9)]
        assert int(row[5]) + int(row[6]) == round(end * 1e9)
        empty = flows.base_rtt[flow] + 8 * flows.size[flow] / min(flows.path_rate[flow], flows.line_rate[flow])
        assert 1 <= int(row[7]) / (empty * 1e9) < 1.2  # headers


def test_a_line_of_htsim(tmp_path: Path) -> None:
    results = completed(tmp_path)
    flows = restore(results).flows
    first = next(iter(htsim(results))).split()
    flow = int(first[3]) - 1
    assert first[1] == f"{int(flows.src[flow][1:]) - 1}_{int(flows.dst[flow][1:]) - 1}"
    assert float(first[6]) == float(f"{flows.finished[flow] * 1e6:.6g}")
    assert first[-1] == f"{flows.size[flow]:.0f}"
