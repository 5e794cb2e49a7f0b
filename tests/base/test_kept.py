"""A cache that several fill: each file is made once, and old ones go."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from functools import partial
from pathlib import Path

import pytest

from testbed.base import kept
from testbed.base.atomic import atomic_write
from testbed.base.kept import made_once


def made(target: Path) -> None:
    """Slowly, with a line that says so."""
    with target.with_name("log").open("a") as log:
        log.write(f"{target.name}\n")
    time.sleep(0.1)
    atomic_write(target, b"made")


def ask(target: Path) -> None:
    assert made_once(target, partial(made, target)).read_bytes() == b"made"


def all_of(target: Path, count: int) -> list[int | None]:
    """Exit codes of processes that want it at once."""
    processes = [multiprocessing.get_context("fork").Process(target=ask, args=(target,)) for _ in range(count)]
    for one in processes:
        one.start()
    for one in processes:
        one.join()
    return [one.exitcode for one in processes]


def test_of_processes_that_want_it_at_once_one_makes_it(tmp_path: Path) -> None:
    target = tmp_path / "folder" / "one.so"
    assert all_of(target, 6) == [0] * 6
    assert sorted(one.name for one in target.parent.iterdir()) == ["log", "one.so"]
    assert (target.parent / "log").read_text() == "one.so\n"


def killed(target: Path) -> None:
    def die() -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    made_once(target, die)


def test_who_is_killed_while_it_makes_one_is_in_nobodys_way(tmp_path: Path) -> None:
    target = tmp_path / "one.so"
    process = multiprocessing.get_context("fork").Process(target=killed, args=(target,))
    process.start()
    process.join()
    assert process.exitcode == -signal.SIGKILL
    assert all_of(target, 2) == [0, 0]


def test_what_could_not_be_made_is_tried_again(tmp_path: Path) -> None:
    def fail() -> None:
        raise OSError("no room")

    with pytest.raises(OSError, match="no room"):
        made_once(tmp_path / "one.so", fail)
    ask(tmp_path / "one.so")


def test_the_oldest_go_when_there_is_too_much(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "MOST", 25.0)
    days = {"old": 5, "older": 9, "used": 7, "young": 0}
    for name, age in days.items():
        (tmp_path / name).write_bytes(bytes(10))
        os.utime(tmp_path / name, (time.time() - age * 86400,) * 2)
    made_once(tmp_path / "used", lambda: pytest.fail("it is there"))  # and is young by that
    made_once(tmp_path / "new", lambda: atomic_write(tmp_path / "new", bytes(10)))
    assert sorted(one.name for one in tmp_path.iterdir()) == ["new", "used", "young"]


def test_what_was_used_lately_stays_however_much_there_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "MOST", 5.0)
    for name in ("one", "two"):
        made_once(tmp_path / name, partial(atomic_write, tmp_path / name, bytes(10)))
    assert sorted(one.name for one in tmp_path.iterdir()) == ["one", "two"]
