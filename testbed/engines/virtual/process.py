"""The process of a run in virtual time: whatever its plugins do, it can be ended."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from multiprocessing.connection import Connection, Pipe
from typing import Any

from testbed.base import linux
from testbed.engines.messages import send_failure
from testbed.errors import TestbedError

POLL_SECONDS = 0.1


class RunProcess:
    """Runs ``work(connection)`` in a fork of this process, without some of its open files."""

    def __init__(self, work: Callable[[Connection], None], patience: float, without: Iterable[int] = ()) -> None:
        """``patience``: wall seconds for which it may say nothing after it has begun."""
        self.connection, theirs = Pipe()
        self.patience = patience
        parent = os.getpid()
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        self.pid = os.fork()
        if self.pid == 0:
            self.connection.close()
            for descriptor in without:
                os.close(descriptor)
            _child(work, theirs, parent)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        theirs.close()

    def messages(self, silent: Callable[[], str]) -> Iterator[tuple[str, Any]]:
        """What the run sends until it is done. Raises TestbedError if it failed, died, or ``silent()`` for too long."""
        while True:
            deadline = time.monotonic() + self.patience
            while not self.connection.poll(POLL_SECONDS):
                if time.monotonic() > deadline:
                    raise TestbedError(f"{silent()} for {self.patience:g} s of wall time, and was ended")
            try:
                kind, content = self.connection.recv()
            except (EOFError, ConnectionResetError):
                raise TestbedError(f"the run's process died ({self._wait()})") from None
            if kind == "failed":
                raise content
            if kind == "done":
                self._wait()
                return
            yield kind, content

    def ask_to_stop(self, reason: str) -> None:
        """Ask the run to end early and to report what it has."""
        with contextlib.suppress(OSError):
            self.connection.send(reason)

    def kill(self) -> None:
        """Kill it now, if it has not ended."""
        if self.pid:
            os.kill(self.pid, signal.SIGKILL)
            self._wait()

    def _wait(self) -> str:
        code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        self.pid = 0
        return f"signal {-code}" if code < 0 else f"exit code {code}"


def _child(work: Callable[[Connection], None], connection: Connection, parent: int) -> None:
    """The process; never returns."""
    try:
        linux.die_with_parent(parent)
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the parent decides
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        os.dup2(2, 1)  # stdout is for results: what a plugin prints goes to stderr
        sys.stdout = sys.stderr
        work(connection)
        connection.send(("done", None))
    except BaseException as error:  # noqa: BLE001 - whatever it is, the parent must get it
        send_failure(connection, error)
    finally:
        os._exit(0)
