"""The process of a run in virtual time: a watchdog on the wall clock ends it if it says nothing any more.

While others have its core the clock stands still for it: how busy the machine is decides no run.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import NoReturn

from testbed.base import linux
from testbed.base.watchdog import late
from testbed.engines.messages import send_failure
from testbed.engines.process import RunProcess, prepare_child
from testbed.errors import TestbedError

POLL_SECONDS = 0.1


class WatchedProcess(RunProcess):
    """Is ended after ``patience`` wall seconds of silence; ``silent()`` says who did not return."""

    def __init__(
        self,
        work: Callable[[Connection], None],
        patience: float,
        silent: Callable[[], str],
        without: Iterable[int] = (),
    ) -> None:
        self.patience, self.silent = patience, silent
        super().__init__(work, without)

    def wait_for_message(self) -> None:
        """Raises TestbedError if none comes in time."""
        silent, wall, core = 0.0, time.monotonic(), self._core_seconds()
        while not self.connection.poll(POLL_SECONDS):
            was, wall, used, core = wall, time.monotonic(), core, self._core_seconds()
            silent += core - used if self._runnable() else wall - was
            if silent > self.patience:
                raise TestbedError(late(self.silent(), self.patience))

    def _core_seconds(self) -> float:
        """For which it has had a core (Documentation/scheduler/sched-stats)."""
        return int(Path(f"/proc/{self.pid}/schedstat").read_text().split()[0]) * 1e-9

    def _runnable(self) -> bool:
        """Whether it has a core or waits for one: it does not sleep (proc_pid_stat(5))."""
        return Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()[0] == "R"

    def run_child(self, work: Callable[[Connection], None], connection: Connection, parent: int) -> NoReturn:
        try:
            prepare_child(parent)
            linux.keep_freed_memory()
            work(connection)
            connection.send(("done", None))
        except BaseException as error:  # noqa: BLE001 - whatever it is, the parent must get it
            send_failure(connection, error)
        finally:
            os._exit(0)
