"""``/etc/testbed/rollout.json``: what a rollout wants of this host. The exporter compares it with what is in force."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from . import place
from .backend import Backend, Knob
from .errors import LabError
from .files import Files
from .target import Target


def describe(target: Target, knobs: list[Knob], backends: dict[str, Backend], **more: Any) -> dict[str, Any]:
    """The file's content. ``more``: ``rollout``, ``policy``, ``pcc`` (slot and parameters by name, or None)."""
    settings = {}
    for knob in knobs:
        backend = backends[knob.backend]
        if isinstance(backend, Files) and knob.value is not None:
            path = Path("/") / (backend.folder / knob.name).relative_to(target.root)
            name = knob.name if knob.backend == "ecn" else f"{knob.backend}/{knob.name}"
            settings[name] = {"path": str(path), "value": knob.value}
    device = {"interface": target.interface, "pci": target.pci, "port": target.port, "settings": settings}
    return {
        "version": 1,
        "rollout": more["rollout"],
        "policy": more.get("policy"),
        "devices": {target.device: {**device, "pcc": more.get("pcc")}},
        "knobs": [asdict(knob) for knob in knobs],
    }


def load(anywhere: Target, file: str = place.DESIRED) -> tuple[Target, list[Knob]]:
    """The port and its settings. Raises LabError if this host has no rollout."""
    path: Path = anywhere.path(file)
    data = place.load(path)
    if data is None:
        raise LabError(f"{path}: no such file; no rollout was made on this host")
    device, port = next(iter(data["devices"].items()))
    target = replace(anywhere, device=device, **{key: port[key] for key in ("interface", "pci", "port")})
    return target, [Knob(**knob) for knob in data["knobs"]]
