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
    """Says nothing for longer than it may, as it gets a hundredth of its core."""
    os.nice(19)
    until = time.monotonic() + 3 * PATIENCE
    while time.monotonic() < until:
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

    process = WatchedProcess(pinned, PATIENCE, lambda: "nobody")
    try:
        assert list(process.messages()) == [("stage", "here")]
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
