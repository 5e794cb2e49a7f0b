"""Cells in forks of one process: how they end, and with whom."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import psutil
import pytest

from testbed.errors import TestbedError
from testbed.runs.sweep.forks import Forks
from tests.support.waiting import until

RUN = ("run", "incast-2", "--engine", "virtual", "--set", "record.report=false", "--duration")


@pytest.fixture
def forks() -> Iterator[Forks]:
    with closing(Forks()) as made:
        yield made


def start(forks: Forks, folder: Path, name: str, *arguments: str, directory: str = "") -> Path:
    """Its log."""
    log = folder / f"{name}.txt"
    log.touch()
    forks.start(name, arguments, folder / name, log, directory or str(folder))
    return log


def cells() -> list[psutil.Process]:
    """What the process that they are forked from has begun."""
    (server,) = (one for one in psutil.Process().children() if "testbed.cli.sweep_child" in one.cmdline())
    return server.children()


def test_each_says_and_leaves_what_a_command_would(forks: Forks, tmp_path: Path) -> None:
    said = {name: start(forks, tmp_path, name, *RUN, "100 us") for name in ("one", "two")}
    said["wrong"] = start(forks, tmp_path, "wrong", "run", "incast-0")
    said["nowhere"] = start(forks, tmp_path, "nowhere", *RUN, "100 us", directory=str(tmp_path / "gone"))
    ended: dict[str, int] = {}
    until(lambda: ended.update(forks.ended()) or len(ended) == 4)
    assert ended == {"one": 0, "two": 0, "wrong": 2, "nowhere": 1}
    assert (tmp_path / "one" / "flows.parquet").read_bytes() == (tmp_path / "two" / "flows.parquet").read_bytes()
    assert said["wrong"].read_text().startswith("testbed: ")
    assert "could not be started: " in said["nowhere"].read_text()
    assert not cells()


def test_interrupted_they_keep_what_was_measured(forks: Forks, tmp_path: Path) -> None:
    said = start(forks, tmp_path, "long", *RUN, "100 s")
    until(lambda: "running" in said.read_text())
    forks.interrupt()
    ended: list[tuple[str, int]] = []
    until(lambda: ended.extend(forks.ended()) or ended)
    assert ended == [("long", 3)]
    assert (tmp_path / "long" / "summary.json").is_file()


@pytest.mark.parametrize("by", ["close", "kill"])
def test_none_outlives_what_it_is_forked_from(tmp_path: Path, by: str) -> None:
    with closing(Forks()) as forks:
        said = start(forks, tmp_path, "long", *RUN, "100 s")
        until(lambda: "running" in said.read_text())
        begun = cells()
        if by == "kill":
            os.kill(begun[0].ppid(), signal.SIGKILL)
            with pytest.raises(TestbedError, match="forked from died"):
                until(forks.ended)
    assert psutil.wait_procs(begun, timeout=20)[1] == []
