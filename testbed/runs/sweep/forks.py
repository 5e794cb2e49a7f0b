"""Cells in forks of one process that has imported what runs need: most of what a short one does otherwise."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from multiprocessing.connection import Pipe
from pathlib import Path

from testbed.errors import TestbedError

SERVER = (sys.executable, "-P", "-m", "testbed.cli.sweep_child")  # -P: the folder it is called from holds no modules
DIED = "the process that the cells of a sweep are forked from died"


class Forks:
    """That process, which ends with this one, as the cells do with it."""

    def __init__(self) -> None:
        """Raises OSError if it cannot be started."""
        self._server, theirs = Pipe()
        with theirs:
            self._process = subprocess.Popen(
                [*SERVER, str(os.getpid()), str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                start_new_session=True,  # a terminal's Ctrl-C is for the sweep, which passes it on
            )

    def start(self, name: str, arguments: Sequence[str], path: Path, log: Path, directory: str) -> None:
        """Run a cell, with its results in ``path``; what it says goes to ``log``, which is there.

        It serves no metrics: the next one would find the port in use.
        """
        self._ask(
            (name, [*arguments, "--metrics-addr", "none", "--out", str(path), "--format", "json"], log, directory)
        )

    def ended(self) -> list[tuple[str, int]]:
        """Those that have ended since the last call, and their exit codes."""
        over = []
        try:
            while self._server.poll():
                over.append(self._server.recv())
        except (EOFError, OSError):
            raise TestbedError(DIED) from None
        return over

    def interrupt(self) -> None:
        """Ctrl-C for all that run."""
        self._ask(signal.SIGINT)

    def close(self) -> None:
        """What runs is killed."""
        self._server.close()
        self._process.wait()

    def _ask(self, what: object) -> None:
        try:
            self._server.send(what)
        except OSError:
            raise TestbedError(DIED) from None
