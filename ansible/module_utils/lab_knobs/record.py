"""Keep ``rollout.json`` in step with what the roles of a rollout ask for, one after the other."""

from __future__ import annotations

from typing import Any

from . import batch, desired, place
from .backend import Knob
from .target import Target


def merge(target: Target, knobs: list[Knob], **more: Any) -> tuple[dict[str, Any], bool]:
    """What the file has to say with these settings in it, and whether that is new. Writes nothing."""
    known = place.load(target.path(place.DESIRED)) or {}
    same = known.get("rollout") == more["rollout"]
    kept = [Knob(**knob) for knob in known.get("knobs", [])] if same else []
    named = {(knob.backend, knob.name): knob for knob in [*kept, *knobs]}
    earlier = known.get("devices", {}).get(target.device, {}) if same else {}
    more = {"pcc": earlier.get("pcc"), **{key: value for key, value in more.items() if value is not None}}
    wanted = desired.describe(target, list(named.values()), batch.backends_of(target), **more)
    return wanted, wanted != known


def write(target: Target, wanted: dict[str, Any]) -> None:
    """Replace the file."""
    path = target.path(place.DESIRED)
    place.replace(path, place.dump(wanted), mode=0o640)
    place.share(path)
