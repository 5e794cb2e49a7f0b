"""The dead man's switch: a timer of systemd restores the snapshot unless verification has passed by then.

It lives on the host, needs no ssh and no controller, and survives the end of whoever armed it.
"""

from __future__ import annotations

import sys

from . import host_files
from .command import call, run
from .errors import LabError
from .target import Target

UNIT = "testbed-dead-man"


def arm(target: Target, rollout: str, seconds: int) -> None:
    """Restore in ``seconds`` from now; an earlier timer is replaced. Raises LabError if it does not run then."""
    _stop_timer()
    program = str(target.path(f"{host_files.PROGRAM}/restore.py"))
    python = sys.executable or "/usr/bin/python3"
    command = (python, program, "--rollout", rollout, "--reason", "dead-man")
    run("systemd-run", f"--unit={UNIT}", f"--on-active={seconds}", "--collect", *command)
    if not armed():
        raise LabError(f"{UNIT}.timer does not run after systemd-run: nothing was changed on this host")


def disarm() -> bool:
    """Stop the timer; returns whether it ran. Raises LabError if it has gone off: the host is being restored."""
    ran = _stop_timer()
    if call("systemctl", "is-active", "--quiet", f"{UNIT}.service").status == 0:  # afterwards: no more can come
        raise LabError("the dead man's switch has gone off and is restoring this host")
    return ran


def armed() -> bool:
    """Whether the timer runs."""
    return call("systemctl", "is-active", "--quiet", f"{UNIT}.timer").status == 0


def _stop_timer() -> bool:
    ran = armed()
    if ran:
        run("systemctl", "stop", f"{UNIT}.timer")
    return ran
