"""Rollouts that a host remembers: it has a snapshot of each, which can be gone back to."""

from __future__ import annotations

from typing import Any

from . import host_files, state
from .target import Target


def known(target: Target) -> list[dict[str, Any]]:
    """Id, time of the snapshot in Unix seconds, and phase: of the last rollout only, ``earlier`` for others.

    The oldest first. Raises LabError for a snapshot that is none.
    """
    last = state.read(target)
    found = []
    for file in target.path(host_files.SNAPSHOTS).glob("*.json"):
        data = host_files.read_json(file) or {}
        phase = last["phase"] if data.get("rollout") == last.get("rollout") else "earlier"
        found.append({"rollout": data.get("rollout", file.stem), "time": data.get("time", 0.0), "phase": phase})
    return sorted(found, key=lambda one: one["time"])
