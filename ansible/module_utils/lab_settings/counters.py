"""Counters of a port: ``hw_counters`` of the RDMA device, and ``ethtool -S`` of the interface."""

from __future__ import annotations

import re

from . import attribute
from .command import run
from .errors import LabError
from .target import Target


def read(target: Target) -> dict[str, int]:
    """All counters by their own names. One that cannot be read now is left out, as the driver may answer EINVAL."""
    found = _ethtool(target) if target.interface else {}
    folder = target.path(f"/sys/class/infiniband/{target.device}/ports/{target.port}/hw_counters")
    for file in folder.glob("*"):
        try:
            text = attribute.read(file)
            if text is not None and file.name != "lifespan":
                found[file.name] = int(text)
        except (LabError, ValueError):
            continue
    return found


def growth(before: dict[str, int], after: dict[str, int]) -> dict[str, int]:
    """How much each counter grew; those that exist at both times. 32-bit counters may wrap once."""
    both = before.keys() & after.keys()
    grown = {name: after[name] - before[name] for name in both}
    return {name: grew if grew >= 0 else grew + 2**32 for name, grew in grown.items()}


def _ethtool(target: Target) -> dict[str, int]:
    text = run("ethtool", "-S", target.interface)
    return {name: int(value) for name, value in re.findall(r"^\s*([\w.]+):\s*(\d+)\s*$", text, re.MULTILINE)}
