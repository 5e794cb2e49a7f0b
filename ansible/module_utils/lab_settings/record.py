"""Keep ``rollout.json`` in step with what the roles of a rollout ask for, one after the other."""

from __future__ import annotations

from typing import Any

from . import batch, desired, host_files
from .backend import Setting
from .shared_names import GROUP, ROLLOUT
from .target import Target


def merge(target: Target, settings: list[Setting], **more: Any) -> tuple[dict[str, Any], bool]:
    """What the file has to say with these settings in it, and whether that is new. Writes nothing."""
    known = host_files.read_json(target.path(ROLLOUT)) or {}
    same = known.get("rollout") == more["rollout"]
    kept = [Setting(**setting) for setting in known.get("settings", [])] if same else []
    named = {(setting.backend, setting.name): setting for setting in [*kept, *settings]}
    earlier = known.get("devices", {}).get(target.device, {}) if same else {}
    more = {"pcc": earlier.get("pcc"), **{key: value for key, value in more.items() if value is not None}}
    wanted = desired.describe(target, list(named.values()), batch.backends_of(target), **more)
    return wanted, wanted != known


def write(target: Target, wanted: dict[str, Any]) -> None:
    """Replace the file."""
    host_files.write(target.path(ROLLOUT), host_files.as_json(wanted), 0o640, GROUP)
