"""/sys/class/net: the interfaces that there are now, with the card's own in its tree."""

from __future__ import annotations

from pathlib import Path

from tests.emulated_lab.files.entry import Link
from tests.emulated_lab.store import State

REAL = Path("/sys/.real/class/net")


def names() -> list[str]:
    return sorted(path.name for path in REAL.iterdir()) if REAL.is_dir() else []


def link(name: str, state: State) -> Link | None:
    """None if there is no such interface."""
    if name not in names():
        return None
    if name == state["interface"]:
        return Link(f"../../devices/pci0000:00/{state['pci']}/net/{name}")
    return Link(f"../../.real/class/net/{name}")
