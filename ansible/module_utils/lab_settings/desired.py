"""``/etc/testbed/rollout.json``: what a rollout wants of this host. The exporter compares active settings with it."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from . import host_files
from .backend import Backend, Setting
from .errors import LabError
from .kernel_files import KernelFiles
from .shared_names import ROLLOUT
from .target import Target


def describe(target: Target, settings: list[Setting], backends: dict[str, Backend], **more: Any) -> dict[str, Any]:
    """The file's content. ``more``: ``rollout``, ``policy``, ``pcc`` (slot and parameters by name, or None)."""
    files = {}
    for setting in settings:
        backend = backends[setting.backend]
        if isinstance(backend, KernelFiles) and setting.value is not None:
            path = Path("/") / (backend.folder / setting.name).relative_to(target.root)
            name = setting.name if setting.backend == "ecn" else f"{setting.backend}/{setting.name}"
            files[name] = {"path": str(path), "value": setting.value}
    device = {"interface": target.interface, "pci": target.pci, "port": target.port, "settings": files}
    return {
        "version": 1,
        "rollout": more["rollout"],
        "policy": more.get("policy"),
        "devices": {target.device: {**device, "pcc": more.get("pcc")}},
        "settings": [asdict(setting) for setting in settings],
    }


def load(anywhere: Target, file: str = ROLLOUT) -> tuple[Target, list[Setting]]:
    """The port and its settings. Raises LabError if this host has no rollout."""
    path: Path = anywhere.path(file)
    data = host_files.read_json(path)
    if data is None:
        raise LabError(f"{path}: no such file; no rollout was made on this host")
    device, port = next(iter(data["devices"].items()))
    target = replace(anywhere, device=device, **{key: port[key] for key in ("interface", "pci", "port")})
    return target, [Setting(**setting) for setting in data["settings"]]
