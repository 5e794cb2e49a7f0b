"""Does a DOCA PCC program control the card? Only the state that it prints shows it: it exits with 0 on an error, and a
second one stays in Standby (host/pcc.c of NVIDIA's sample), so neither exit status nor ``is-active`` is of use."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from pathlib import Path

from .shared_names import PCC_LOGS
from .target import Target

PROGRAMS = ("doca_pcc", "doca_spcx_cc", "testbed-pcc")
STATES = ("active", "standby", "deactivated", "error")


@dataclass(frozen=True)
class Program:
    """The program of one device: ``state`` is the last one that it printed, or ``gone`` or ``silent``."""

    state: str
    pid: int | None


def inspect(target: Target) -> Program:
    """From the log and the pid file that the unit writes."""
    pid = _pid(target.path(f"{PCC_LOGS}/{target.device}.pid"))
    if pid is None or not target.path(f"/proc/{pid}").exists():
        return Program("gone", None)
    try:
        log = target.path(f"{PCC_LOGS}/{target.device}.log").read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return Program("silent", pid)
    states = re.findall(rf"PCC host status ({'|'.join(STATES)})", log, re.IGNORECASE)
    return Program(states[-1].lower() if states else "silent", pid)


def wait_until_active(target: Target, patience: float) -> Program:
    """Wait until the program is active *and stays so* for a second, or for ``patience`` seconds."""
    end = time.monotonic() + patience
    since = None
    while True:
        program = inspect(target)
        now = time.monotonic()
        since = (since or now) if program.state == "active" else None
        if now >= end or (since is not None and now - since >= 1.0):
            return program
        time.sleep(0.1)


def processes(root: Path = Path("/")) -> dict[int, str]:
    """All PCC programs of this host, ours or not: pid to command line."""
    found = {}
    for folder in (root / "proc").glob("[0-9]*"):
        try:
            name = (folder / "comm").read_text(errors="replace").strip()
            words = (folder / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue  # ended meanwhile
        if name in PROGRAMS:
            found[int(folder.name)] = b" ".join(words).decode(errors="replace").strip()
    return found


def _pid(path: Path) -> int | None:
    try:
        return int(path.read_text(encoding="ascii"))
    except (FileNotFoundError, ValueError):
        return None
