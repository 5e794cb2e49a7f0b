"""Where a rollout keeps its things on a host, and how files are written there: whole, by rename, with tight modes."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from .errors import LabError

DESIRED = "/etc/testbed/rollout.json"
PROMOTED = "/etc/testbed/promoted.json"  # the same, once it was verified: what comes back at boot
STATE = "/var/lib/testbed/state.json"
SNAPSHOTS = "/var/lib/testbed/snapshots"
EVIDENCE = "/var/lib/testbed/evidence"
LOCK = "/run/testbed/rollout.lock"
PROGRAM = "/usr/local/lib/testbed"
PCC_UNIT = "/etc/systemd/system/testbed-pcc@.service"
SETTINGS_UNIT = "/etc/systemd/system/testbed-settings.service"
UDEV_RULE = "/etc/udev/rules.d/90-testbed-settings.rules"
FILES = (DESIRED, PROMOTED, PCC_UNIT, SETTINGS_UNIT, UDEV_RULE)  # what a rollout writes and a rollback puts back
GROUP = "testbed"  # what the exporter is in


def replace(path: Path, text: str, mode: int = 0o600) -> None:
    """Write a file as a whole; nobody ever sees half of it. New folders are for root alone to write."""
    _make(path.parent)
    scratch = path.with_name(f".{path.name}.{os.getpid()}")
    file = os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, mode)
    with os.fdopen(file, "w", encoding="utf-8") as stream:
        stream.write(text)
        stream.flush()
        os.fsync(stream.fileno())
    scratch.chmod(mode)
    scratch.replace(path)


def _make(folder: Path) -> None:
    """Readable by all, whatever the umask of a session is: the exporter has to get at what is shared with it."""
    if not folder.is_dir():
        _make(folder.parent)
        folder.mkdir(exist_ok=True)
        folder.chmod(0o755)


def share(path: Path) -> None:
    """Let the exporter's group read a file, where there is such a group."""
    import grp

    try:
        os.chown(path, 0, grp.getgrnam(GROUP).gr_gid)
    except KeyError:
        return
    path.chmod(0o640)


def load(path: Path) -> dict[str, Any] | None:
    """A JSON object; None if there is no such file. Raises LabError if it is something else."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise LabError(f"{path}: not JSON ({error}); move it away to go on") from None
    if not isinstance(data, dict):
        raise LabError(f"{path}: expected a JSON object; move it away to go on")
    return data


def dump(data: dict[str, Any]) -> str:
    """JSON as it is kept in files: the same data is the same text."""
    return json.dumps(data, indent=1, sort_keys=True) + "\n"
