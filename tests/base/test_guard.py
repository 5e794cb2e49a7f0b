"""A guard undoes what its maker has left, and nothing else."""

from __future__ import annotations

import os
import signal
import time
from functools import partial
from pathlib import Path

from testbed.base.guard import Guard

PATIENCE = 20.0  # s


def made(file: Path) -> Guard:
    return Guard(partial(file.write_text, "undone"))  # type: ignore[arg-type] # what it returns is of no interest


def test_it_undoes_what_a_killed_process_has_left(tmp_path: Path) -> None:
    file, ready = tmp_path / "file", os.pipe()
    maker = os.fork()
    if maker == 0:
        made(file)
        os.write(ready[1], b".")
        time.sleep(PATIENCE)
        os._exit(0)
    os.read(ready[0], 1)
    assert not file.exists()
    os.kill(maker, signal.SIGKILL)
    os.waitpid(maker, 0)
    end = time.monotonic() + PATIENCE
    while not (file.exists() and file.read_text() == "undone") and time.monotonic() < end:
        time.sleep(0.01)
    assert file.read_text() == "undone"


def test_a_dismissed_one_is_gone_and_has_done_nothing(tmp_path: Path) -> None:
    guard = made(tmp_path / "file")
    guard.dismiss()
    assert not (tmp_path / "file").exists()
