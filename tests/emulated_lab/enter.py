"""Runs commands in the namespaces of a lab or of one of its hosts, from outside."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path


def children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def wait_until_gone(pid: int, patience: float = 5.0) -> None:
    """The first process of a PID namespace outlives all others in it, so that nothing is left when it is gone."""
    deadline = time.monotonic() + patience
    while pid and Path(f"/proc/{pid}").exists() and time.monotonic() < deadline:
        time.sleep(0.005)


def pid_outside(parent: int, pid: int) -> int:
    """The number here of a child that ``parent``, in a PID namespace of its own, knows as ``pid``."""
    for child in children(parent):
        status = dict(line.split(":", 1) for line in Path(f"/proc/{child}/status").read_text().splitlines())
        if int(status["NSpid"].split()[-2]) == pid:
            return child
    raise LookupError(f"process {parent} has no child {pid}")


def enter(pid: int, command: Sequence[str], cwd: Path) -> list[str]:
    """The command line that runs ``command`` in all namespaces of a process."""
    spaces = [f"--{kind}" for kind in ("net", "mount", "pid", "uts", "ipc")]
    return ["nsenter", "--target", str(pid), *spaces, "--", "env", f"--chdir={cwd}", *command]
