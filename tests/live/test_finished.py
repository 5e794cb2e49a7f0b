"""A finished run as OpenMetrics."""

from __future__ import annotations

import shutil
import subprocess
from itertools import pairwise
from pathlib import Path

import pytest

from testbed.live.finished import FLOW, PORT, open_metrics
from testbed.live.names import METRICS
from testbed.results import folder
from testbed.results.measured import restore
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
