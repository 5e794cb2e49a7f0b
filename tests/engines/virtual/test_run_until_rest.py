"""Runs that go on until their window is at rest: how long, what is measured, and the same again."""

from __future__ import annotations

from pathlib import Path

import pytest

import testbed
from testbed.results.folder import load
from testbed.results.measured import restore
from testbed.runs.rerun import Result
from testbed.runs.same import Difference, figures, first_difference
from tests.support.commands import command
from tests.support.simulated import simulated

DRIFTING = ["controller.window=none", "time.duration=4 ms", "time.warmup=1 ms"]  # DCQCN is on its way up for 10 ms
UNSEEN = {"record.report": False, "record.decisions": 0}


def test_a_window_that_drifts_moves_on_until_it_rests_and_the_run_is_the_same_again(tmp_path: Path) -> None:
    settings = UNSEEN | dict(one.split("=") for one in DRIFTING)
    run = testbed.run("incast-8", engine="virtual", until_rest="40 ms", settings=settings, out=tmp_path / "run")
    summary, rest = run.summary, run.manifest.rest
    assert (summary.unrest, summary.verdict.word) == ("", "clean")
    assert summary.windows == rest["windows"] > 1
    assert summary.window_end == summary.duration == pytest.approx(1e-3 + 3e-3 * summary.windows)
    assert summary.window_end - summary.window_start == pytest.approx(3e-3)
    assert (rest["start"], rest["end"]) == (summary.window_start, summary.window_end)
    assert summary.su == pytest.approx(100, abs=0.1)  # of this window, and no other
    assert restore(load(run.folder)).warmup == rest["start"]  # what the report draws
    again = testbed.run(run.folder, out=tmp_path / "again")
    assert first_difference(run.folder, again.folder) is None
    assert Result.at(run.folder, trusted=False).not_comparable() == ""


def test_one_that_rests_at_once_is_the_run_without(tmp_path: Path) -> None:
    short = UNSEEN | {"time.duration": "500 us", "time.warmup": "200 us"}
    runs = [
        testbed.run("incast-4", controller="hpcc", engine="virtual", until_rest=until, settings=short, out=out)
        for until, out in ((None, tmp_path / "without"), ("2 ms", tmp_path / "with"))
    ]
    difference = first_difference(*(run.folder for run in runs))  # in no table, and in no figure but this
    assert difference == Difference("summary.json", "windows", "", "0", "1")
    without, there = (figures(run.folder) for run in runs)
    assert repr(without | {"windows": 1}) == repr(there)


def test_one_that_never_rests_ends_with_its_last_whole_window() -> None:
    record = simulated("incast-8", [*DRIFTING, "time.until_rest=8 ms"])
    assert (record.windows, record.warmup) == (2, 4e-3)
    assert record.duration == 7e-3


def test_the_fluid_model_rests_as_well_and_the_table_says_so(tmp_path: Path) -> None:
    few = [f"--set={one}" for one in ("controller.window=none", "time.warmup=1 ms", "record.report=off")]
    options = ["--engine", "fluid", "--metrics-addr", "none", "--duration", "4 ms", "--until-rest", "40 ms"]
    done = command("run", "incast-8", *options, *few, "--out", str(tmp_path / "run"))
    assert done.returncode == 0, done.stderr
    windows = testbed.load(tmp_path / "run").summary.windows
    assert windows > 1
    assert f"at rest in window {windows}, its last" in done.stdout


def test_a_second_window_needs_room() -> None:
    done = command("run", "incast-8", "--dry-run", "--duration", "3 ms", "--until-rest", "4 ms")
    assert done.returncode == 2
    assert "--until-rest 4 ms: time.until_rest: has no room for another window" in done.stderr
