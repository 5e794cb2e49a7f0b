"""How far a rollout is on this host: ``state.json``, which the exporter shows."""

from __future__ import annotations

from typing import Any

from . import host_files
from .errors import LabError
from .shared_names import GROUP, STATE
from .target import Target

PHASES = (
    "idle", "preflight", "snapshot", "armed", "apply", "verify", "soak", "promoted",
    "rollback", "rolled_back", "failed",
)  # fmt: skip
NEW = {"version": 1, "phase": "idle", "last_apply": None, "policy": None}
UNDONE = ("rollback", "rolled_back", "failed")


def read(target: Target) -> dict[str, Any]:
    """What is known; phase ``idle`` if nothing is."""
    return host_files.read_json(target.path(STATE)) or dict(NEW)


def phase_of(target: Target, rollout: str) -> str | None:
    """How far this rollout is here; None if the last one was another. Raises LabError if it is being undone, or was."""
    known = read(target)
    if known.get("rollout") != rollout:
        return None
    if known["phase"] in UNDONE:
        raise LabError(
            f"this host is in phase '{known['phase']}': the dead man's switch went off, or somebody rolled back "
            "(journalctl -u testbed-dead-man); start again with another rollout_id"
        )
    return str(known["phase"])


def update(target: Target, **news: Any) -> None:
    """Change some of it. ``phase`` has to be one of `PHASES`."""
    if news.get("phase", "idle") not in PHASES:
        raise ValueError(f"phase '{news['phase']}': allowed: {', '.join(PHASES)}")
    text = host_files.as_json({**read(target), **news, "version": 1})
    host_files.write(target.path(STATE), text, 0o640, GROUP)
