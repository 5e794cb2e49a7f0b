"""`--engine live`: what happens is the same as in virtual time, and takes no less than wall time."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from testbed.engines.virtual.run import VirtualRun
from testbed.engines.virtual.wall import UNSEEN, Wall
from testbed.fidelity import processors
from testbed.fidelity.verdict import judge, limits_of
from testbed.runs.overrides import resolve
from testbed.runs.same import other_course
from testbed.sdk.conformance.trial import Unwatched
from tests.support.commands import command

SETTINGS = ("record.decisions=0", "engine=live", "time.duration=0.4 ms", "time.warmup=0.1 ms")
NS = 1_000_000_000


def made(dilation: float) -> tuple[VirtualRun, Wall]:
    """A run that is about to begin, and its clock."""
    run = VirtualRun(resolve("incast-2", {}, {}, SETTINGS), [], Unwatched(), dilation=dilation)
    assert run.wall is not None
    return run, run.wall


@pytest.mark.parametrize("controller", ["hpcc", "adpg-nn"])  # per flow, and in batches
def test_it_decides_as_in_virtual_time_to_the_bit(controller: str, tmp_path: Path) -> None:
    usual = ("--controller", controller, "--duration", "0.5 ms", "--set", "record.report=false")
    for engine, more in (("virtual", ()), ("live", ("--dilation", "100"))):
        arguments = ("run", "incast-8", *usual, "--engine", engine, *more, "--out", engine, "--metrics-addr", "none")
        done = command(*arguments, cwd=tmp_path)
        assert done.returncode in {0, 3}, done.stderr  # a busy machine is late
    assert (tmp_path / "live" / "decisions.parquet").stat().st_size > 0
    assert other_course(tmp_path / "virtual", tmp_path / "live") is None
    missing = other_course(tmp_path / "virtual", tmp_path)
    assert missing is not None
    assert missing.file == "decisions.parquet"
    known = json.loads((tmp_path / "live" / "summary.json").read_text())
    assert known["engine"] == "live"
    assert known["pacing_lag_p99"] >= 0
    assert known["wall_seconds"] >= 0.5e-3 * 100  # it takes no less
    assert "live engine: simulated with the rack's programs, in wall time" in " ".join(done.stdout.split())


def test_events_wait_until_they_are_due() -> None:
    run, _ = made(200.0)
    record = run.follow()
    assert record.engine == "live"
    assert record.wall_seconds >= 0.4e-3 * 200
    assert record.late.pacing_lag.histogram.counts.sum() > 100


def test_events_that_are_late_are_measured_and_judged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All of them by as much as the clock is ahead, less what the run makes up for; it is known who had the core."""
    stat = tmp_path / "stat"
    monkeypatch.setattr(processors, "STAT", stat)

    def count(own: int, stolen: int) -> None:
        stat.write_text("".join(f"cpu{core} {own} 0 0 0 0 0 0 {stolen} 0 0\n" for core in os.sched_getaffinity(0)))

    count(0, 0)
    run, wall = made(200.0)
    ahead, length = 2.0, 0.4e-3 * 200
    begin = wall.begin

    def late() -> None:
        begin()
        wall.c.epoch_ns -= round(ahead * NS)
        count(75, 25)

    monkeypatch.setattr(wall, "begin", late)
    record = run.follow()
    (remedy,) = (one.remedy for one in judge(record).reasons if one.what == "pacing lag")
    assert "took 25% of a core's time" in remedy
    lag, least = record.late.pacing_lag, (ahead - length) / 200
    assert lag.histogram.quantile(0.01) >= 0.8 * least  # a bin is as wide
    assert lag.largest >= least
    assert "feedback lag" not in [one.what for one in limits_of(record)]


def test_an_interruption_makes_nothing_late_that_nobody_waits_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without apps the run is ahead of what is due by more than that, and yet it takes its time."""
    run, wall = made(1000.0)
    take, began = run.sampler.take, time.monotonic()

    def interrupted() -> None:
        if 0.1 < time.monotonic() - began < 0.3:
            time.sleep(UNSEEN / 4)
        take()

    monkeypatch.setattr(run.sampler, "take", interrupted)
    record = run.follow()
    assert record.late.pacing_lag.histogram.quantile(0.5) < 1e-9
    assert record.wall_seconds >= 0.4e-3 * 1000
    assert wall.c.ahead * wall.c.seconds_per_tick * 1000 == pytest.approx(UNSEEN)


def test_auto_is_the_kernels() -> None:
    done = command("run", "incast-2", "--engine", "live", "--dilation", "auto")
    assert done.returncode == 2
    assert "say --dilation 100" in done.stderr
