"""Everything that a rollout may touch, as it was before: settings, files, units. With a digest, and kept once made."""

from __future__ import annotations

import hashlib
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from . import batch, host_files, state, units
from .backend import Setting
from .errors import LabError, Refused
from .target import Target
from .units import Unit

FINISHED = ("idle", "promoted", "rolled_back")


@dataclass(frozen=True)
class Snapshot:
    """What there was. ``files``: path to text and mode, None for a file that was not there."""

    rollout: str
    time: float
    target: Target
    settings: list[Setting]
    files: dict[str, tuple[str, int] | None]
    units: dict[str, Unit]

    @classmethod
    def take(cls, target: Target, rollout: str, unit_names: list[str]) -> Snapshot:
        """Read it all; changes nothing."""
        files = {path: _file(target.path(path)) for path in host_files.FILES}
        found = {name: units.inspect(name) for name in unit_names}
        return cls(rollout, time.time(), target, batch.everything(batch.backends_of(target)), files, found)

    @property
    def digest(self) -> str:
        """SHA-256 of what was there, without names and times of the rollout."""
        data = self.as_dict()
        return hashlib.sha256(
            host_files.as_json({key: data[key] for key in ("settings", "files", "units")}).encode()
        ).hexdigest()

    def as_dict(self) -> dict[str, Any]:
        """As it is kept in the file, less the digest."""
        port = self.target
        return {
            "version": 1,
            "rollout": self.rollout,
            "time": self.time,
            "target": {"interface": port.interface, "device": port.device, "pci": port.pci, "port": port.port},
            "settings": [asdict(setting) for setting in self.settings],
            "files": {path: file and list(file) for path, file in self.files.items()},
            "units": {name: asdict(unit) for name, unit in self.units.items()},
        }

    def keep(self) -> Path:
        """Write it. Raises Refused as `check` does: an unfinished rollout's snapshot is the only way back."""
        check(self.target, self.rollout)
        path = file_of(self.target, self.rollout)
        if path.exists():
            return path  # of this rollout, from before it changed anything
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        host_files.write(path, host_files.as_json({**self.as_dict(), "digest": self.digest}))
        return path


def check(target: Target, rollout: str) -> None:
    """Raises Refused if another rollout is unfinished on this host, or this one has ended."""
    known = state.read(target)
    unfinished, ours = known["phase"] not in FINISHED, known.get("rollout") == rollout
    if unfinished and known.get("rollout") and not ours:
        raise Refused(
            "unfinished-rollout",
            f"rollout '{known['rollout']}' stopped in phase '{known['phase']}' on this host; end it first: "
            f"ansible-playbook rollback.yml -e rollout_id={known['rollout']}",
        )
    if file_of(target, rollout).exists() and not (unfinished and ours):
        raise Refused(
            "used-rollout-id",
            f"rollout '{rollout}' has ended on this host, and its snapshot is of how the host was then; give another "
            "rollout_id, or none",
        )


def load(target: Target, rollout: str) -> Snapshot:
    """A kept snapshot. Raises LabError if there is none, or its digest is not that of its content."""
    path = file_of(target, rollout)
    data = host_files.read_json(path)
    if data is None:
        raise LabError(f"{path}: no snapshot of rollout '{rollout}' on this host; the controller keeps a copy")
    found = Snapshot(
        rollout=data["rollout"],
        time=data["time"],
        target=replace(target, **data["target"]),
        settings=[Setting(**setting) for setting in data["settings"]],
        files={name: file and (file[0], file[1]) for name, file in data["files"].items()},
        units={name: Unit(**unit) for name, unit in data["units"].items()},
    )
    if found.digest != data.get("digest"):
        raise LabError(f"{path}: its digest is not that of its content; use the copy that the controller keeps")
    return found


def file_of(target: Target, rollout: str) -> Path:
    """Where the snapshot of a rollout is."""
    if not rollout or "/" in rollout or rollout.startswith("."):
        raise LabError(f"rollout id '{rollout}': expected a plain name such as 2026-11-20-a")
    return target.path(host_files.SNAPSHOTS) / f"{rollout}.json"


def _file(path: Path) -> tuple[str, int] | None:
    try:
        return path.read_text(encoding="utf-8"), path.stat().st_mode & 0o7777
    except FileNotFoundError:
        return None
