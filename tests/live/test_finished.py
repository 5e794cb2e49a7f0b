"""A finished run as OpenMetrics."""

from __future__ import annotations

import re
import shutil
import subprocess
from itertools import pairwise
from pathlib import Path

import pytest

import testbed
from testbed.live.finished import FLOW, PORT, TIME, open_metrics
from testbed.live.names import METRICS
from testbed.results import folder
from testbed.results.measured import restore
from tests.live.monitor.boards import filled, queries
from tests.support.monitoring import Prometheus, free_ports, running, wait_for
from tests.support.recorded import mine, written


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("finished")
    return written(path / "run", mine(path))


def test_samples_are_the_tables(run: Path) -> None:
    results = folder.load(run)
    measured, lines = restore(results), list(open_metrics(results, "mine"))
    assert lines[-1] == "# EOF"
    said = [line.split(" ") for line in lines if line.startswith("testbed_port_tx_bytes_total")]
    own = [row for row in said if f'port="{measured.ports[0]}"' in row[0]]
    assert [float(row[1]) for row in own] == measured.port_series.tx_bytes[:, 0].tolist()
    stamps = [float(row[2]) for row in own]
    assert all(abs(after - before - 0.2) < 2e-3 for before, after in pairwise(stamps))


def test_families_stand_once_and_are_those_of_a_live_run(run: Path) -> None:
    types = [line.split()[2] for line in open_metrics(folder.load(run), "mine") if line.startswith("# TYPE")]
    assert len(types) == len(set(types))
    assert {*PORT, *FLOW} <= {one.name for one in METRICS} & set(types)


@pytest.mark.skipif(shutil.which("promtool") is None, reason="promtool is not installed (apt package prometheus)")
def test_prometheus_takes_it(run: Path, tmp_path: Path) -> None:
    (tmp_path / "x.om").write_text("\n".join(open_metrics(folder.load(run), 'a "b" \\ c')) + "\n")
    done = subprocess.run(
        ["promtool", "tsdb", "create-blocks-from", "openmetrics", "x.om", "blocks"],
        check=False,
        cwd=tmp_path,
        capture_output=True,
    )
    assert done.returncode == 0, done.stderr
    assert list((tmp_path / "blocks").iterdir())


SHOWN = {
    "Nominal time", "Progress", "Busiest port", "Runs", "Utilisation", "Queue now", "Ports", "Marked packets",
    "Dropped packets", "PFC pause", "Goodput", "Goodput and rate",
}  # fmt: skip


@pytest.mark.skipif(shutil.which("prometheus") is None, reason="prometheus is not installed")
def test_dashboards_show_it(tmp_path: Path) -> None:
    """A real Prometheus with nothing but a finished run: every query of what the run has returns data."""
    options = {"controller": "dcqcn", "engine": "virtual", "duration": "1 ms"}
    found = folder.load(testbed.run("incast-8", **options, out=tmp_path / "run").folder)
    lines = list(open_metrics(found, "mine"))
    (tmp_path / "x.om").write_text("\n".join(lines) + "\n")
    loading = ["promtool", "tsdb", "create-blocks-from", "openmetrics", "x.om", "blocks"]
    subprocess.run(loading, check=True, cwd=tmp_path, capture_output=True)
    (tmp_path / "prometheus.yml").write_text("{}")
    (port,) = free_ports(1)
    moment = float(next(line for line in reversed(lines) if line.startswith(TIME)).split()[2])
    with running(_prometheus(tmp_path, port)):
        prometheus = Prometheus(port)
        wait_for(f"{prometheus.url}/-/ready")
        has = {*prometheus.api("label/__name__/values")}
        values = {"instance": "mine", "port": ".*", "flow": "h1-h9"}
        asked = [one for one in queries() if one.board in {"rack", "flow"} and _names(one.expression) <= has]
        empty = [str(one) for one in asked if not prometheus.query(filled(one.expression, values), moment)]
        (busiest,) = (one for one in asked if one.panel["title"] == "Busiest port")
        (used,) = prometheus.query(filled(busiest.expression, values), moment)
    assert not empty
    assert {one.panel["title"] for one in asked} >= SHOWN
    assert float(used["value"][1]) == pytest.approx(found.summary.su / 100, abs=0.1)


def _names(expression: str) -> set[str]:
    return set(re.findall(r"testbed_\w+", expression))


def _prometheus(at: Path, port: int) -> subprocess.Popen[str]:
    command = ["prometheus", "--config.file", "prometheus.yml", "--storage.tsdb.path", "blocks"]
    command += ["--web.listen-address", f"127.0.0.1:{port}"]
    return subprocess.Popen(command, cwd=at, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
