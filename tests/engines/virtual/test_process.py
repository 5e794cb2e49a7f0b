"""The watchdog on a run's process: it knows one that hangs from one that others keep from its core."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from multiprocessing.connection import Connection

import pytest

from testbed.engines.virtual.process import WatchedProcess
from testbed.errors import TestbedError

PATIENCE = 0.3  # s


def starved(connection: Connection) -> None:
    """Needs little of a core, of which it gets a hundredth."""
    os.nice(19)
    while time.process_time() < 0.012:
        pass
    connection.send(("stage", "here"))


def asleep(_connection: Connection) -> None:
    time.sleep(60)


def test_time_without_a_core_does_not_count() -> None:
    core = min(os.sched_getaffinity(0))
    busy = f"import os; os.sched_setaffinity(0, {{{core}}}); print(flush=True)\nwhile True: pass"
    other = subprocess.Popen([sys.executable, "-c", busy], stdout=subprocess.PIPE)
    assert other.stdout
    other.stdout.readline()

    def pinned(connection: Connection) -> None:
        os.sched_setaffinity(0, {core})
        starved(connection)

    process, began = WatchedProcess(pinned, PATIENCE, lambda: "nobody"), time.monotonic()
    try:
        assert list(process.messages()) == [("stage", "here")]
        assert time.monotonic() - began > PATIENCE  # it was starved indeed
    finally:
        process.kill()
        other.kill()
        other.communicate()


def test_who_sleeps_is_late() -> None:
    process = WatchedProcess(asleep, PATIENCE, lambda: "sleeper")
    try:
        with pytest.raises(TestbedError, match="sleeper did not return"):
            list(process.messages())
    finally:
        process.kill()
