"""Files of a rollout on a host: where they are, and how they are written: whole, by rename, with tight modes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from .atomic import atomic_write
from .errors import LabError
from .shared_names import ROLLOUT

PROMOTED = "/etc/testbed/promoted.json"  # the same, once it was verified: what comes back at boot
SNAPSHOTS = "/var/lib/testbed/snapshots"
EVIDENCE = "/var/lib/testbed/evidence"
LOCK = "/run/testbed/rollout.lock"
PROGRAM = "/usr/local/lib/testbed"
PCC_UNIT = "/etc/systemd/system/testbed-pcc@.service"
SETTINGS_UNIT = "/etc/systemd/system/testbed-settings.service"
UDEV_RULE = "/etc/udev/rules.d/90-testbed-settings.rules"
FILES = (ROLLOUT, PROMOTED, PCC_UNIT, SETTINGS_UNIT, UDEV_RULE)  # what a rollout writes and a rollback puts back


def write(path: Path, text: str, mode: int = 0o600, group: str = "") -> None:
    """Write a file as a whole. New folders are for root alone to write."""
    _make(path.parent)
    atomic_write(path, text.encode(), mode, group, durable=True)


def _make(folder: Path) -> None:
    """Readable by all, whatever the umask of a session is: the exporter has to get at what is shared with it."""
    if not folder.is_dir():
        _make(folder.parent)
        folder.mkdir(exist_ok=True)
        folder.chmod(0o755)


def read_json(path: Path) -> dict[str, Any] | None:
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


def as_json(data: dict[str, Any]) -> str:
    """JSON as it is kept in files: the same data is the same text."""
    return json.dumps(data, indent=1, sort_keys=True) + "\n"
