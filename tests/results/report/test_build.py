"""The report as data, before it becomes a page."""

from __future__ import annotations

import numpy as np

from testbed.fidelity.verdict import judge
from testbed.results.figures import fct
from testbed.results.manifest import Manifest
from testbed.results.report import build, html
from testbed.results.summary import summarise
from tests.support.synthetic_runs import B, run, without_series


def test_the_report_of_many_flows_and_ports_stays_small(manifest: Manifest) -> None:
    n, ports = 2000, 300
    record = run([1 / n] * n, samples=21, sizes=[10.0 ** (2 + i % 6) for i in range(n)])
    record.flows.finished = record.flows.start + 2 * fct.ideal_fct(record)
    record.flows.dst[0] = "h1"
    for name, values in vars(record.port_series).items():
        if name != "time":
            setattr(record.port_series, name, np.tile(values, (1, ports // 2)))
    record.ports = [f"s{i // 24 + 1}-eth{i}" for i in range(ports)]
    record.port_neighbour = [f"h{i}" for i in range(ports)]
    record.port_rate = record.port_buffer = np.full(ports, B)
    record.port_series.queue_area[:, 7] *= 3
    without_series(record, list(range(1024)))
    record.acked_in_window = np.ones(n)
    report = build.compose(record, summarise(record, judge(record), experiment="x", controller="y"), manifest)
    plots = {plot.slug: plot for plot in report.plots}
    assert len(plots["queues"].lines) == 8
    assert plots["queues"].lines[0].name == "s1-eth7 to h7"
    assert [line.name for line in plots["slowdown"].lines] == ["p50", "mean", "p99"]
    page = html.render(report)
    assert len(page) < 1.5e6
    assert "up to 10 kB" in page
