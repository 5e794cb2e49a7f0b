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
OTHERS = 9  # on the same core; of the same class and niceness, so that each gets a tenth


def spin(seconds: float) -> None:
    """For that much time of the first core."""
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    while time.process_time() < seconds:
        pass


def starved(connection: Connection) -> None:
    """Says nothing until it has had a third of its patience of the core, which takes others nine times as long."""
    spin(PATIENCE / 3)
    connection.send(("stage", "here"))


def asleep(_connection: Connection) -> None:
    time.sleep(60)


def without_memory(_connection: Connection) -> None:
    os._exit(12)  # as C does, see testbed/agent/memory.h


def test_c_without_memory_is_told() -> None:
    process = WatchedProcess(without_memory, 60.0, lambda: "nobody")
    with pytest.raises(TestbedError, match="there is not enough memory"):
        list(process.messages())


def test_time_without_a_core_does_not_count() -> None:
    loop = "import time\nwhile time.process_time() < 60: pass"  # ends by itself as well
    others = [subprocess.Popen([sys.executable, "-S", "-c", loop]) for _ in range(OTHERS)]
    for other in others:
        os.sched_setaffinity(other.pid, {min(os.sched_getaffinity(0))})
    began = time.monotonic()
    process = WatchedProcess(starved, PATIENCE, lambda: "nobody")
    try:
        assert list(process.messages()) == [("stage", "here")]
        assert time.monotonic() - began > PATIENCE
    finally:
        process.kill()
        for other in others:
            other.kill()
            other.wait()


def test_who_sleeps_is_late() -> None:
    process = WatchedProcess(asleep, PATIENCE, lambda: "sleeper")
    try:
        with pytest.raises(TestbedError, match="sleeper did not return"):
            list(process.messages())
    finally:
        process.kill()
