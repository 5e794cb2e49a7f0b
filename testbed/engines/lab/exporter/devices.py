"""Which NICs a host has, and their DCQCN settings."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import NamedTuple

from testbed.engines.lab.exporter.documents import DeviceRegisters, Rollout
from testbed.engines.lab.exporter.files import Files

INFINIBAND = "/sys/class/infiniband"
PRIORITIES = range(8)
TWINS = {
    "rp_clamp_tgt_rate": "clamp_tgt_rate",
    "rp_clamp_tgt_rate_ati": "clamp_tgt_rate_after_time_inc",
    "rp_rate_to_set_on_first_cnp": "rate_to_set_on_first_cnp",
    "rp_dce_tcp_g": "dce_tcp_g",
    "rp_dce_tcp_rtt": "dce_tcp_rtt",
    "rp_rate_reduce_monitor_period": "rate_reduce_monitor_period",
    "rp_initial_alpha_value": "initial_alpha_value",
    "np_min_time_between_cnps": "min_time_between_cnps",
    "np_cnp_dscp": "cnp_dscp",
    "np_cnp_prio": "cnp_802p_prio",
    **{
        f"rp_{name}": f"rpg_{name}"
        for name in (
            *("time_reset", "byte_reset", "threshold", "max_rate", "ai_rate", "hai_rate", "gd"),
            *("min_dec_fac", "min_rate"),
        )
    },
}
"""Names in mainline's debugfs to those in MLNX_OFED's sysfs: one name per setting, whatever the driver."""


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
    """Name and value of every DCQCN setting in force; from sysfs where it is, else from the registers' debugfs."""
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
            yield TWINS.get(name, name), value
