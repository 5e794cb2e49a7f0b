"""The process of a run in virtual time: a watchdog on the wall clock ends it if it says nothing any more."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from multiprocessing.connection import Connection
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
        deadline = time.monotonic() + self.patience
        while not self.connection.poll(POLL_SECONDS):
            if time.monotonic() > deadline:
                raise TestbedError(late(self.silent(), self.patience))

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
