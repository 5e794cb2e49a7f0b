"""`testbed shell`: which run and which node are meant, and a host of a real rack."""

from __future__ import annotations

import json
import os
import re
import signal
from pathlib import Path

import pytest

from testbed.cli.shell import _choose
from testbed.engines.nodes import RackNode, RunningRack
from testbed.errors import BadInput
from tests.support.commands import Command, command
from tests.support.entered import published
from tests.support.outside import LONG
from tests.support.waiting import PATIENCE

A, B = (RunningRack(run, (RackNode("h1", "10.0.0.1", 3),), -1) for run in ("incast-8-dcqcn", "incast-8-swift"))


@pytest.mark.parametrize("named", ["incast-8-swift", "results/incast-8-swift", "./results/incast-8-swift/"])
def test_a_run_by_its_name_or_folder(named: str) -> None:
    assert _choose([A, B], named) is B


def test_the_only_run_needs_no_name() -> None:
    assert _choose([A], "") is A


@pytest.mark.parametrize(
    ("racks", "run", "says"),
    [
        ([], "", "no run goes on here; start one with: sudo testbed run EXPERIMENT"),
        ([], "incast-8-swift", "no run goes on here"),
        ([A, B], "", "2 runs go on here; say which, testbed shell RUN HOST: incast-8-dcqcn, incast-8-swift"),
        ([A, B], "incast-8-swft", "no run 'incast-8-swft' goes on here; did you mean 'incast-8-swift'?"),
    ],
)
def test_no_such_run(racks: list[RunningRack], run: str, says: str) -> None:
    with pytest.raises(BadInput, match=f"^{re.escape(says)}"):
        _choose(racks, run)


@pytest.mark.root
@pytest.mark.parallel
def test_without_root() -> None:
    done = command("shell", "h1", user=65534)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == ("testbed: the namespaces of a rack are root's; run it with sudo: sudo testbed shell ...\n")


@pytest.mark.root
@pytest.mark.parallel
def test_the_list_of_nodes() -> None:
    with published("shell-list"):
        assert command("shell", "shell-list").stdout == "h1  10.0.0.1\ns1  switch\n"
        told = json.loads(command("shell", "results/shell-list", "--format", "json").stdout)
        assert told["run"] == "shell-list"
        assert told["nodes"] == [{"name": "h1", "address": "10.0.0.1"}, {"name": "s1", "address": ""}]
        nowhere = command("shell", "shell-list", "--", "true")
        assert (nowhere.returncode, nowhere.stderr) == (
            2, "testbed: run a command where? testbed shell [RUN] HOST -- COMMAND\n",
        )  # fmt: skip


@pytest.mark.root
@pytest.mark.parallel
def test_a_host_of_a_running_rack(tmp_path: Path) -> None:
    running = Command(*LONG, "--out", str(tmp_path / "shell-real"))
    try:
        running.read_until("running")
        shown = command("shell", str(tmp_path / "shell-real"), "h1", "--", "ip", "addr", "show", "dev", "e0")
        assert shown.returncode == 0
        assert "inet 10.0.0.1/8" in shown.stdout
        assert "s1-eth3" in command("shell", "shell-real", "s1", "--", "ip", "-s", "link").stdout
        unknown = command("shell", "shell-real", "h11", "--", "true")
        assert unknown.returncode == 2
        assert "'shell-real' has no host or switch 'h11'; did you mean 'h1'?" in unknown.stderr
        assert running.poll() is None
    finally:
        os.kill(running.pid, signal.SIGINT)
        running.communicate(timeout=PATIENCE)
    assert running.returncode == 3  # ended early; otherwise nothing has happened to it
    gone = command("shell", "shell-real", "h1", "--", "true")
    assert gone.returncode == 2
    assert "goes on here" in gone.stderr
