"""How far a rollout is on this host: ``state.json``, which the exporter shows."""

from __future__ import annotations

from typing import Any

from . import place
from .target import Target

PHASES = (
    "idle", "preflight", "snapshot", "armed", "apply", "verify", "soak", "promoted",
    "rollback", "rolled_back", "failed",
)  # fmt: skip


def read(target: Target) -> dict[str, Any]:
    """What is known; phase ``idle`` if nothing is."""
    return place.load(target.path(place.STATE)) or {"version": 1, "phase": "idle", "last_apply": None, "policy": None}


def update(target: Target, **news: Any) -> None:
    """Change some of it. ``phase`` has to be one of `PHASES`."""
    if news.get("phase", "idle") not in PHASES:
        raise ValueError(f"phase '{news['phase']}': allowed: {', '.join(PHASES)}")
    path = target.path(place.STATE)
    place.replace(path, place.dump({**read(target), **news, "version": 1}), mode=0o640)
    place.share(path)
