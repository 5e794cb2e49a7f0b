"""A second process that puts something back when this one has ended, whatever ended it."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from typing import NoReturn


class Guard:
    """Calls ``undo`` once this process is gone, unless it was dismissed. To be made before what is to be undone."""

    def __init__(self, undo: Callable[[], None]) -> None:
        watched, self._alive = os.pipe()  # closed by the kernel when this process ends
        self._pid = os.fork()
        if self._pid == 0:
            _watch(watched, undo)
        os.close(watched)

    def dismiss(self) -> None:
        """It was undone already."""
        os.kill(self._pid, signal.SIGKILL)
        os.waitpid(self._pid, 0)
        os.close(self._alive)


def _watch(watched: int, undo: Callable[[], None]) -> NoReturn:
    try:
        os.setsid()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        os.closerange(0, watched)  # such as a connection that ends when no process has it open
        os.closerange(watched + 1, os.sysconf("SC_OPEN_MAX"))
        os.read(watched, 1)
        undo()
    finally:
        os._exit(0)
