"""Inventories of hosts that are not there."""

from __future__ import annotations

from pathlib import Path

from testbed.engines.lab.operator.inventory import HostVariables, Inventory, LabHost


def hosts(count: int, **variables: object) -> Inventory:
    known = {"roce_interface": "eth0", **variables}
    made = [LabHost(f"lab{number}", HostVariables.model_validate(known)) for number in range(1, count + 1)]
    return Inventory(Path("lab.yml"), made)
