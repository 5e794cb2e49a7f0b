"""`testbed set`: which run is meant, and a run that is edited."""

from __future__ import annotations

import json
import os
import re
import signal
from pathlib import Path

import pytest

from testbed.cli.set import _choose, _read
from testbed.errors import BadInput
from testbed.live.reached import ReachedRun
from testbed.results.folder import load_manifest
from tests.support.commands import Command, command
from tests.support.waiting import until

A, B = ReachedRun("incast-8-dcqcn", 1), ReachedRun("incast-8-swift", 2)
LONG = ("run", "incast-2", "--engine", "virtual", "--duration", "100 s", "--set", "record.report=false",
    "--set", "record.interval=10 ms", "--set", "record.decisions=0", "--metrics-addr", "none")  # fmt: skip


def test_the_run_that_is_meant() -> None:
    assert _choose([A], "") is A
    assert _choose([A, B], "incast-8-swift") is B


@pytest.mark.parametrize(
    ("runs", "name", "says"),
    [
        ([], "", "no run goes on here that can be edited; start one with: testbed run EXPERIMENT"),
        ([A, B], "", "2 runs go on here; say which, with --run RUN: incast-8-dcqcn, incast-8-swift"),
        ([A, B], "incast-8-swft", "no run 'incast-8-swft' goes on here; did you mean 'incast-8-swift'?"),
    ],
)
def test_no_such_run(runs: list[ReachedRun], name: str, says: str) -> None:
    with pytest.raises(BadInput, match=f"^{re.escape(says)}"):
        _choose(runs, name)


def test_values_are_yaml() -> None:
    assert _read(["q3.weight=3", "kmin=5 kB", "controller.g = 0.5", "down=10 %"]) == {
        "q3.weight": 3, "kmin": "5 kB", "controller.g": 0.5, "down": "10 %",
    }  # fmt: skip


@pytest.mark.parametrize("setting", ["kmin", "=3", "kmin=[1, 2]", "kmin="])
def test_settings_that_are_none(setting: str) -> None:
    with pytest.raises(BadInput, match=f"^{re.escape(setting)}: expected"):
        _read([setting])


def test_an_edit_becomes_an_event_of_the_experiment(tmp_path: Path) -> None:
    running = Command(*LONG, "--out", str(tmp_path / "set-real"))
    try:
        until(lambda: any(one.name == "set-real" for one in ReachedRun.all()))
        done = command("set", "--run", str(tmp_path / "set-real"), "kmin=5 kB", "h1-s1.loss=1 %", "--format", "json")
        told = json.loads(done.stdout)
        refused = command("set", "--run", "set-real", "seed=5")
        if os.geteuid() == 0:
            other = command("set", "--run", "set-real", "kmin=6 kB", user=65534)
            assert (other.returncode, other.stderr) == (2, "testbed: 'set-real': it is root's; use sudo\n")
    finally:
        os.kill(running.pid, signal.SIGINT)
        running.wait()
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr.startswith("testbed: 'set-real': 'seed' cannot change while a run goes on; what can: kmin")
    manifest = load_manifest(tmp_path / "set-real")
    (event,) = manifest.experiment["events"]
    assert event["set"] == {"kmin": "5 kB", "h1-s1.loss": "1 %"}
    assert [one.what for one in manifest.events] == ["set kmin=5 kB, h1-s1.loss=1 %"] == [told["what"]]
    assert manifest.events[0].time == pytest.approx(told["at"])
