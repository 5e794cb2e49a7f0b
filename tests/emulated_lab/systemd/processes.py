"""Children of process 1: how each ended, its own and those that lost their parent."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path


class Processes:
    """``ended``: of each running child, the exit code to come; negative for a signal."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self.ended: dict[int, asyncio.Future[int]] = {}
        loop.add_signal_handler(signal.SIGCHLD, self._reap)

    def _reap(self) -> None:
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            future = self.ended.pop(pid, None)
            if future is not None:
                future.set_result(os.waitstatus_to_exitcode(status))

    def watch(self, pid: int) -> asyncio.Future[int]:
        """The exit code to come of a child that was just forked."""
        self.ended[pid] = self._loop.create_future()
        return self.ended[pid]


def in_session(leader: int) -> list[int]:
    """Processes of a session, its leader included."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(fields[3]) == leader and fields[0] != "Z":
            found.append(int(stat.parent.name))
    return found


def with_session(leader: int) -> list[int]:
    """A running child and its session, which it may not have begun yet."""
    return [leader, *(pid for pid in in_session(leader) if pid != leader)]


def kill(pids: list[int], number: int) -> None:
    for pid in pids:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            continue
