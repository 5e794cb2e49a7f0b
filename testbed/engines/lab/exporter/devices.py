"""Which NICs a host has, and their DCQCN settings."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import NamedTuple

from testbed.engines.lab.exporter.documents import DeviceRegisters, Rollout
from testbed.engines.lab.exporter.files import Files
from testbed.engines.lab.shared_names import DEBUGFS

INFINIBAND = "/sys/class/infiniband"
PRIORITIES = range(8)
SYSFS = {debugfs: sysfs.rpartition("/")[2] for sysfs, debugfs in DEBUGFS.items()}
"""One name per DCQCN setting, whatever the driver: that in MLNX_OFED's sysfs."""


class Device(NamedTuple):
    """A NIC."""

    name: str
    interface: str
    pci: str
    port: int

    @property
    def folder(self) -> str:
        """Of its port."""
        return f"{INFINIBAND}/{self.name}/ports/{self.port}"


def found(files: Files, rollout: Rollout | None) -> list[Device]:
    """Those of the rollout; without one, all that the kernel shows."""
    if rollout:
        return [Device(name, one.interface, one.pci, one.port) for name, one in sorted(rollout.devices.items())]
    return [
        Device(name, *_interface(files, name), 1)
        for name in files.names(INFINIBAND)
        if files.names(f"{INFINIBAND}/{name}/ports")
    ]


def _interface(files: Files, name: str) -> tuple[str, str]:
    """Name of the network interface and PCI address."""
    here = f"{INFINIBAND}/{name}/device"
    interfaces = files.names(f"{here}/net")
    uevent = files.read(f"{here}/uevent") or ""
    address = next((line.partition("=")[2] for line in uevent.splitlines() if line.startswith("PCI_SLOT_NAME=")), "")
    if not address and files.at(here).is_symlink():
        address = PurePosixPath(files.at(here).readlink()).name
    return (interfaces[0] if interfaces else ""), address


def dcqcn(files: Files, device: Device, registers: DeviceRegisters | None) -> Iterator[tuple[str, int]]:
    """Name and value of every active DCQCN setting; from sysfs where it is, else from the registers' debugfs."""
    ecn = f"/sys/class/net/{device.interface}/ecn"
    sides = [side for side in ("roce_rp", "roce_np") if files.names(f"{ecn}/{side}")]
    for side in sides:
        for name in files.names(f"{ecn}/{side}"):
            if name != "enable" and (value := files.number(f"{ecn}/{side}/{name}")) is not None:
                yield name, value
        for priority in PRIORITIES:
            if (value := files.number(f"{ecn}/{side}/enable/{priority}")) is not None:
                yield f"{side}_enable_{priority}", value
    if not sides and registers:
        for name, value in sorted(registers.cc_params.items()):
            yield SYSFS.get(name, name), value
