"""Sweeps: ended early and gone on with, cells that fail, and what is left of a sweep that is killed."""

from __future__ import annotations

import json
import os
import re
import signal
import time
from pathlib import Path

import pytest

from testbed.results import folder as results
from tests.support.census import Census
from tests.support.commands import Command
from tests.support.commands import command as sweep
from tests.support.failing import GOOD_THRESHOLDS, TUNER, plugin
from tests.support.runs import UNCALIBRATED, UNDRAWN
from tests.support.waiting import PATIENCE

CELLS = {"dcqcn,seed=1", "dcqcn,seed=2", "fixed,seed=1", "fixed,seed=2"}
# It is the sweep that is tested and not the links: a busy machine must not refuse them.
QUICK = ("sweep", "incast-2", "--duration", "400 us", *UNCALIBRATED, *UNDRAWN)
GRID = ("--controller", "dcqcn,fixed", "--repeat", "2")
SWEEP = (*QUICK, *GRID)
VIRTUAL = ("sweep", "incast-2", "--engine", "virtual", "--duration", "400 us", *UNDRAWN)
# A slot takes a second once the first cell is there, until it may go on.
SLOW = """(
    __import__('time').sleep(len(list(__import__('pathlib').Path('{folder}').glob('out/*=*/summary.json'))))
    if not __import__('os').path.exists('{folder}/on') else None
)"""
FAILING = """
from testbed.controller import RateController

class Mine(RateController):
    name = "mine"
    count = 0

    def on_feedback(self, now, flows, feedback):
        self.count += 1
        if self.count > 20:
            1 / 0
"""


def wait_for(log: Path, text: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while not (log.is_file() and text in log.read_text()):
        assert time.monotonic() < deadline, f"{log} never said '{text}'"
        time.sleep(0.05)


def created(folder: Path) -> dict[str, str]:
    return {name: results.load(folder / name).manifest.created for name in CELLS if (folder / name).exists()}


def test_ctrl_c_keeps_what_is_finished_and_resume_does_the_rest(tmp_path: Path) -> None:
    out = tmp_path / "out"
    tuner, _ = plugin(tmp_path, TUNER, initial=GOOD_THRESHOLDS, slot=SLOW.format(folder=tmp_path))
    asked = (*VIRTUAL, "--duration", "4 ms", *GRID, "--set", f"tuner={tuner}")
    process = Command(*asked, "--out", str(out), session=True)
    process.read_until("[2/4]")
    second = json.loads((out / "sweep.json").read_text())["order"][1]
    wait_for(out / "logs" / f"{second}.txt", "running")
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does
    printed, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1
    assert printed == ""
    assert "Traceback" not in said
    assert f"ended early with 1 of 4 cells, which are kept; go on with: testbed sweep --resume {out}" in said
    first = created(out)
    assert len(first) == 1
    assert (out / "unfinished" / second / "summary.json").is_file()

    (tmp_path / "on").touch()
    done = sweep("sweep", "--resume", str(out), "--format", "json")
    assert done.returncode == 0, done.stderr
    assert {cell["cell"] for cell in json.loads(done.stdout)["cells"]} == CELLS
    assert "1 of 4 cells are there already" in done.stderr
    every = created(out)
    assert set(every) == CELLS
    assert first.items() <= every.items()  # what was finished did not run again
    for name in CELLS:
        manifest = results.load(out / name).manifest
        assert f"{manifest.controller.name},seed={manifest.seed}" == name
        assert manifest.command_line[:3] == ["testbed", "run", "incast-2"]

    again = sweep(*asked, "--out", str(out))  # the same command is as good, and finds nothing to do
    assert again.returncode == done.returncode
    assert created(out) == every

    compared = sweep("compare", str(out), "--format", "json")
    assert compared.returncode == 0
    variants = json.loads(compared.stdout)["variants"]
    assert {one["name"]: [run["seed"] for run in one["runs"]] for one in variants} == {
        "dcqcn": [1, 2],
        "fixed": [1, 2],
    }


def test_failing_cell_does_not_end_the_sweep(tmp_path: Path) -> None:
    (tmp_path / "my_cc.py").write_text(FAILING)
    out = tmp_path / "out"
    done = sweep(*VIRTUAL, "--controller", f"{tmp_path}/my_cc.py,fixed", "--out", str(out))
    assert done.returncode == 1, done.stderr
    assert "1 failed" in done.stdout
    assert "mine,seed=1: failed: controller 'mine'" in done.stdout
    assert "ZeroDivisionError" in done.stdout
    assert results.load(out / "fixed,seed=1").summary.packets_sent > 0
    assert results.load(out / "unfinished" / "mine,seed=1").summary.packets_sent > 0
    assert not (out / "mine,seed=1").exists()
    compared = sweep("compare", str(out))
    assert "1 of the 2 cells" in " ".join(compared.stdout.split())
    gated = sweep("compare", str(out), "--fail-if", "su < 0", "--allow-degraded")
    assert gated.returncode == 1  # what did not run passes no gate
    assert "mine,seed=1" in gated.stderr


@pytest.mark.root
@pytest.mark.parallel
def test_sigkill_takes_the_run_with_it(tmp_path: Path) -> None:
    out = tmp_path / "out"
    before = Census.take()
    # than what follows takes on any machine; few packets meanwhile
    long = (*SWEEP, "--duration", "1 s", "--dilation", "4000", "--out", str(out))
    process = Command(*long, session=True)
    process.read_until("[1/4]")
    first = json.loads((out / "sweep.json").read_text())["order"][0]
    wait_for(out / "logs" / f"{first}.txt", "building")
    busy = sweep(*long)
    assert busy.returncode == 2
    assert "is running already" in busy.stderr
    process.kill()
    process.communicate(timeout=PATIENCE)
    assert before.leftovers() == []
    assert not (out / first).exists()


def test_dry_run_needs_nothing_and_leaves_nothing(tmp_path: Path) -> None:
    done = sweep(*SWEEP, "--out", str(tmp_path / "out"), "--dry-run")
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert {line.split()[0] for line in lines[:4]} == CELLS
    assert "4 cells, about" in lines[4]
    listed = json.loads(sweep(*SWEEP, "--dry-run", "--format", "json").stdout)
    assert {cell["name"] for cell in listed} == CELLS
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["sweep"], "which experiment?"),
        (["sweep", "incst-2"], "did you mean 'incast-2'?"),
        (["sweep", "incast-2", "--jobs", "0"], "--jobs"),
        (["sweep", "incast-2", "--set", "traffic.senders=2,0"], "the cell with traffic.senders=0"),
        (["sweep", "incast-2", "--resume", "x"], "only --jobs, --on or --trust goes with it"),
        (["sweep", "--resume", "./nowhere"], "no sweep at"),
    ],
)
def test_bad_input(arguments: list[str], says: str) -> None:
    done = sweep(*arguments)
    assert done.returncode == 2
    assert says in done.stderr
    assert done.stdout == ""


def test_simulated_cells_run_side_by_side_without_root_and_disturb_nobody(tmp_path: Path) -> None:
    """Tables byte by byte; a sweep that was ended goes on as any other."""
    options = ("--engine", "virtual", "--duration", "200 us", *UNDRAWN, "--controller", "hpcc,fixed")
    for jobs in ("1", "2"):
        done = sweep("sweep", "incast-2", *options, "--jobs", jobs, "--out", jobs, "--format", "json", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert "share the cores" not in done.stderr
        assert re.search(r"\[\d/2\] .*, about \d+ s left", done.stderr)
        assert {cell["word"] for cell in json.loads(done.stdout)["cells"]} == {"clean"}
    tables = sorted(file.relative_to(tmp_path / "1") for file in tmp_path.glob("1/*/*.parquet"))
    assert len(tables) >= 2 * 3
    different = [one for one in tables if (tmp_path / "1" / one).read_bytes() != (tmp_path / "2" / one).read_bytes()]
    assert different == []
    again = sweep("sweep", "--resume", "2", "--jobs", "2", cwd=tmp_path)
    assert again.returncode == 0
    assert "2 of 2 cells are there already" in again.stderr
