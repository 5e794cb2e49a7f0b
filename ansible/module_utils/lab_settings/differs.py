"""What a rollout would change here: nothing, if the last one wanted the same and all of it is still active."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from . import batch, host_files, pcc, resolve, state
from .backend import Backend, Setting
from .shared_names import ROLLOUT
from .target import Target


def differs(
    target: Target,
    settings: list[Setting],
    policy: dict[str, Any] | None,
    pcc_unit: str,
    backends: Mapping[str, Backend],
) -> list[str]:
    """Names of what differs; reads only."""
    resolved, _ = resolve.resolve(settings, backends)
    found = [change.setting.title for change in batch.plan(resolved, backends)]
    known = host_files.read_json(target.path(ROLLOUT)) or {}
    recorded = {(setting["backend"], setting["name"]): setting["value"] for setting in known.get("settings", [])}
    if recorded != {(setting.backend, setting.name): setting.value for setting in resolved}:
        found.append("rollout.json: settings")
    if known.get("policy") != policy:
        found.append("rollout.json: policy")
    if state.read(target)["phase"] != "promoted":
        found.append("phase")
    if pcc_unit and pcc.inspect(target).state != "active":
        found.append(pcc_unit)
    return found
