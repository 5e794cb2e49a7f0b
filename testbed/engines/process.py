"""The process in which a run goes on, seen from outside: whatever happens in it, it can be ended."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from multiprocessing.connection import Connection, Pipe
from typing import Any, NoReturn

from testbed.base import denied, linux
from testbed.errors import TestbedError
from testbed.live.edit import Edit


class RunProcess(ABC):
    """Runs ``work(connection)`` in a fork of this process, without some open files. What it sends: `messages`."""

    def __init__(self, work: Callable[[Connection], None], without: Iterable[int] = ()) -> None:
        self.connection, theirs = Pipe()
        self._ended = False
        parent = os.getpid()
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # the child must not receive it before it ignores it
        self.pid = os.fork()
        if self.pid == 0:
            self.connection.close()
            for descriptor in without:
                os.close(descriptor)
            self.run_child(work, theirs, parent)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        theirs.close()

    @abstractmethod
    def run_child(self, work: Callable[[Connection], None], connection: Connection, parent: int) -> NoReturn:
        """The process; never returns."""

    def wait_for_message(self) -> None:
        """Block until there is one, or the process has ended."""
        self.connection.poll(None)

    def messages(self) -> Iterator[tuple[str, Any]]:
        """Yields what the run sends until it is done. Raises TestbedError if it failed or died."""
        while True:
            self.wait_for_message()
            try:
                kind, content = self.connection.recv()
            except (EOFError, ConnectionResetError):
                raise TestbedError(f"the run's process died ({self.wait()}); nothing of it is left") from None
            if kind == "failed":
                raise content
            if kind == "done":
                self.wait()
                return
            yield kind, content

    def ask_to_stop(self, reason: str) -> None:
        """Ask the run to end early and to report what it has."""
        with contextlib.suppress(OSError):
            self.connection.send(reason)

    def ask_to_edit(self, edit: Edit) -> None:
        """See `testbed.live.edit.Editable`."""
        with contextlib.suppress(OSError):
            self.connection.send(edit)

    def kill(self) -> None:
        """Kill it now, if it has not ended."""
        if not self._ended:
            os.kill(self.pid, signal.SIGKILL)
            self.wait()

    def wait(self) -> str:
        """Until it has ended; says how."""
        code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        self._ended = True  # from now on the number may be another process's
        return denied.ended(code)


def prepare_child(parent: int) -> None:
    """To be called first in the fork: it ends with its parent, leaves Ctrl-C to it, and keeps stdout for results."""
    linux.die_with_parent(parent)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the parent decides
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    os.dup2(2, 1)  # what a plugin prints goes to stderr
    sys.stdout = sys.stderr
