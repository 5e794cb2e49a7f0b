"""Which card this is, by its PCI id, and its firmware's version."""

from __future__ import annotations

import json
from dataclasses import dataclass

from . import attribute
from .command import call
from .target import Target

# https://pci-ids.ucw.cz, vendor 15b3. Virtual functions have ids of their own.
CARDS = {
    0x101D: "cx6dx",
    0x1021: "cx7",
    0x1023: "cx8",
    0xA2D6: "bf2",
    0xA2DC: "bf3",
}
PROGRAMMABLE = ("bf3", "cx8")  # a DPA that the public headers have a layout for


@dataclass(frozen=True)
class Card:
    """``generation`` is a value of `CARDS`, or the unknown id as text; '' if there is no such device."""

    generation: str
    virtual: bool
    firmware: str
    psid: str


def inspect(target: Target) -> Card:
    """From sysfs and ``devlink dev info``; changes nothing."""
    folder = target.path(f"/sys/bus/pci/devices/{target.pci}")
    found = attribute.read(folder / "device")
    generation = "" if found is None else CARDS.get(int(found, 16), found)
    versions = _versions(target.pci)
    return Card(
        generation=generation,
        virtual=(folder / "physfn").exists(),
        firmware=versions.get("fw.version", ""),
        psid=versions.get("fw.psid", ""),
    )


def _versions(pci: str) -> dict[str, str]:
    done = call("devlink", "dev", "info", f"pci/{pci}", "-j")
    try:
        info = json.loads(done.out)["info"][f"pci/{pci}"]["versions"]
    except (ValueError, KeyError, TypeError):
        return {}
    return {name: str(value) for kind in ("fixed", "stored", "running") for name, value in info.get(kind, {}).items()}
