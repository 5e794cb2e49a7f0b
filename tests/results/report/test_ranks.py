"""The report of jobs: what ranks did when, and who sent to whom."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from testbed.results.folder import read_table
from testbed.results.report.build import build
from tests.support.runs import VIRTUAL, run

EXPERIMENT = """
traffic:
  pattern: jobs
  jobs:
    - {pattern: training, name: a, ranks: 2, size: 100 kB, buckets: 1, forward: 20 us, backward: 30 us, iterations: 3}
    - {pattern: allreduce, name: b, ranks: 3, size: 90 kB, start: 40 us, iterations: 2}
controller: {name: fixed, rate: 100 Gbit/s}
time: {duration: 0.4 ms, warmup: 0}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("jobs")
    (place / "two.yaml").write_text(EXPERIMENT)
    run(place / "out", str(place / "two.yaml"), *VIRTUAL, "--alone")
    return place / "out"


def test_steps_are_in_a_table(folder: Path) -> None:
    rows = read_table(folder / "steps.parquet").to_pylist()
    first = [row for row in rows if row["job"] == "a" and row["host"] == "h1" and row["kind"] == "compute"]
    assert sorted(row["iteration"] for row in first) == [0, 0, 1, 1, 2, 2]
    assert min(row["begin"] for row in first) == 0
    assert sorted({row["length"] for row in first}) == pytest.approx([20e-6, 30e-6])
    done = {(row["job"], row["iteration"], row["rank"]): row["begin"] for row in rows if row["kind"] == "done"}
    assert len(done) == 3 * 2 + 2 * 3
    assert done["a", 0, 0] > 50e-6
    assert min(row["begin"] for row in rows if row["job"] == "b") == pytest.approx(40e-6)


def test_ranks_compute_and_send_in_turn(folder: Path) -> None:
    plot = next(plot for plot in build(folder).plots if plot.name == "ranks")
    (axis,) = (panel.y for panel in plot.panels)
    assert list(axis.ticks) == ["b h5", "b h4", "b h3", "a h2", "a h1"]
    computes = [line for line in plot.lines if line.name == "computes"]
    assert len(computes) == 2  # b's ranks do not
    upper = max(computes, key=lambda line: line.y[0])
    begin, end = upper.x[::3], upper.x[1::3]
    assert end - begin == pytest.approx([0.05] * 3)  # ms: forward and backward in one
    sends = next(line for line in plot.lines if line.name == "sends" and np.floor(line.y[0]) == upper.y[0] - 1)
    assert sends.x[0] == pytest.approx(end[0])
    dots = [line for line in plot.lines if line.name == "iteration done"]
    assert sum(len(line.x) for line in dots) == 3 * 2 + 2 * 3


def test_who_sends_to_whom(folder: Path) -> None:
    told = re.findall(r"<title>([^<]+)</title>", build(folder).matrix)
    assert told == [
        "h1 to h2: 300 kB", "h2 to h1: 300 kB",
        "h3 to h4: 240 kB", "h4 to h5: 240 kB", "h5 to h3: 240 kB",
    ]  # fmt: skip


def test_jobs_that_share_nothing_do_not_interfere(folder: Path) -> None:
    one, other = build(folder).summary.jobs
    assert (one.job, one.iterations, other.job, other.iterations) == ("a", 3, "b", 2)
    assert one.interference == pytest.approx(1, abs=1e-6)
    assert other.interference == pytest.approx(1, abs=1e-6)
