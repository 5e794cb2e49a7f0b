"""What a rollout would change here: nothing, if the last one wanted the same and it is all still in force."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from . import batch, pcc, place, resolve, state
from .backend import Backend, Knob
from .target import Target


def differs(
    target: Target,
    knobs: list[Knob],
    policy: dict[str, Any] | None,
    pcc_unit: str,
    backends: Mapping[str, Backend],
) -> list[str]:
    """Names of what differs; reads only."""
    resolved, _ = resolve.resolve(knobs, backends)
    found = [change.knob.title for change in batch.plan(resolved, backends)]
    known = place.load(target.path(place.DESIRED)) or {}
    recorded = {(knob["backend"], knob["name"]): knob["value"] for knob in known.get("knobs", [])}
    if recorded != {(knob.backend, knob.name): knob.value for knob in resolved}:
        found.append("rollout.json: settings")
    if known.get("policy") != policy:
        found.append("rollout.json: policy")
    if state.read(target)["phase"] != "promoted":
        found.append("phase")
    if pcc_unit and pcc.look(target).state != "active":
        found.append(pcc_unit)
    return found
