"""A finished run in a real Prometheus: the dashboards show all of it that its tables have."""

from __future__ import annotations

import math
import shutil
import subprocess
from collections.abc import Iterator
from datetime import datetime

import pytest

import testbed
from testbed.live.finished import APART, open_metrics
from testbed.results import folder
from tests.live.monitor.boards import Asked, Shown, filled, queries
from tests.support.monitoring import Prometheus, free_ports, monitor_up, running, wait_for

pytestmark = pytest.mark.skipif(
    shutil.which("prometheus") is None, reason="needs Prometheus: apt-get install prometheus"
)

SAMPLES = 100
NOT_IN_TABLES = {
    "flow": {
        "CE ratio",
        "Congestion notifications",
        "Losses and timeouts",
        "Packets sent and acknowledged",
        "RTT, heat map",
    },
    "rack": {
        "Worst distortion",
        "Fairness",
        "Queue at arrival, heat map",
        "Depth by class",
        "Throughput by class",
        "Marks by class",
        "Drops by class",
        "Congestion notifications",
        "Losses and timeouts",
        "Share per controller",
        "Goodput per controller",
        "RTT per controller",
        "Marks per controller",
        "Iterations done",
        "Last iteration",
        "Bus bandwidth",
        "Straggler",
        "Distortion",
        "Decision time",
        "Flows per decision",
    },
    "tuner": {
        "Queue at arrival, heat map",
        "Reward",
        "State",
        "Decisions",
        "Decision cost",
    },
}
"""Panels without data: histograms, queues of classes, shares, jobs, decisions and hosts are of live runs alone."""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> folder.Results:
    out = tmp_path_factory.mktemp("finished") / "mine"
    settings = {"time.duration": "2 ms", "time.warmup": 0, "record.interval": "20 us", "record.report": False}
    testbed.run("incast-8", controller="dcqcn", engine="virtual", seed=1, settings=settings, out=str(out))
    return folder.load(out)


@pytest.fixture(scope="module")
def loaded(run: folder.Results, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shown]:
    path = tmp_path_factory.mktemp("loaded")
    (path / "run.om").write_text("\n".join(open_metrics(run, "mine")) + "\n")
    blocks = path / "state/prometheus"
    blocks.mkdir(parents=True)
    command = ["promtool", "tsdb", "create-blocks-from", "openmetrics", path / "run.om", blocks]
    subprocess.run(command, check=True, capture_output=True)
    port, grafana = free_ports(2)
    ports = ["--prometheus-port", str(port), "--grafana-port", str(grafana)]
    with running(monitor_up("--dir", path / "state", *ports)):
        prometheus = Prometheus(port)
        wait_for(f"{prometheus.url}/-/ready")
        begin = datetime.fromisoformat(run.manifest.created).timestamp()
        yield Shown(prometheus, "mine", begin + SAMPLES * APART / 2, run.tables["flows"]["flow"][0].as_py())


def has_data(loaded: Shown, asked: Asked, chosen: dict[str, str]) -> bool:
    series = loaded.prometheus.query(filled(asked.expression, chosen), loaded.moment)
    return any(math.isfinite(float(one["value"][1])) for one in series)


@pytest.mark.parametrize("board", NOT_IN_TABLES)
def test_panels_show_all_that_the_tables_have(loaded: Shown, board: str) -> None:
    chosen, asked = loaded.chosen(board), [one for one in queries() if one.board == board]
    shown = {one.panel["title"] for one in asked if has_data(loaded, one, chosen)}
    assert {one.panel["title"] for one in asked} - shown == NOT_IN_TABLES[board]


def test_the_busiest_port_is_as_busy_as_the_summary_says(run: folder.Results, loaded: Shown) -> None:
    (asked,) = (one for one in queries() if (one.board, one.panel["title"]) == ("rack", "Busiest port"))
    (used,) = loaded.prometheus.query(filled(asked.expression, loaded.chosen("rack")), loaded.moment)
    assert float(used["value"][1]) == pytest.approx(run.summary.su / 100, abs=0.1)
