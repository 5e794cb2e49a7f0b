"""Inventories of hosts that nobody asks."""

from __future__ import annotations

from pathlib import Path

from testbed.engines.lab.inventory import Inventory, LabHost, Variables


def hosts(count: int, **variables: object) -> Inventory:
    known = {"roce_interface": "eth0", **variables}
    made = [LabHost(f"lab{number}", Variables.model_validate(known)) for number in range(1, count + 1)]
    return Inventory(Path("lab.yml"), made)
