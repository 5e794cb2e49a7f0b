"""What a test can have go wrong on a host: files and commands that fail, and traps that spring at a certain moment."""

from __future__ import annotations

import errno
import os
import signal
from pathlib import Path

from tests.emulated_lab.store import State, Store


def none() -> State:
    """No faults. ``files``: by name, an errno's name or "ignored" (a write without effect and without an error).

    ``commands``: by name, exit code and text. ``traps``: what to do on which event. ``pcc``: see `fakes.doca_pcc`.
    """
    return {"files": {}, "commands": {}, "traps": [], "pcc": ""}


def check_file(state: State, name: str) -> None:
    """Raises OSError if reading and writing it was broken."""
    if (fault := state["faults"]["files"].get(name, "ignored")) != "ignored":
        raise OSError(getattr(errno, fault), name)


def spring(store: Store, event: str) -> None:
    """Do what was set to happen on an event ("write NAME", "command NAME"), once."""
    if not any(trap["on"] == event for trap in store.read()["faults"]["traps"]):
        return
    with store.edit() as state:
        traps = state["faults"]["traps"]
        due = [trap for trap in traps if trap["on"] == event]
        state["faults"]["traps"] = [trap for trap in traps if trap not in due]
    for trap in due:
        if trap["do"] == "kill sshd":
            kill_all("sshd")
        elif trap["do"] == "power off":
            from tests.emulated_lab import control  # sockets, which hardly a command needs

            control.ask({"do": "halt"})


def kill_all(name: str) -> None:
    """SIGKILL every process of this host by its program's name: a server and all its sessions."""
    for program in Path("/proc").glob("[0-9]*/comm"):
        try:
            if program.read_text().strip() == name:
                os.kill(int(program.parent.name), signal.SIGKILL)
        except (FileNotFoundError, ProcessLookupError):
            continue
