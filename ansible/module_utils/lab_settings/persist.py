"""Promotion: the settings come back at boot and whenever the driver makes the card's devices anew; the host is free."""

from __future__ import annotations

from string import Template
from typing import Any

from . import desired, host_files, lock, snapshot, state, units
from .command import run
from .errors import LabError
from .shared_names import ROLLOUT
from .target import Target

# A program comes first: its parameters are among the settings. The mounts are those of cc_params and of rdma_cm.
UNIT = Template("""\
# Written by testbed's rollout $rollout.
[Unit]
Description=Congestion control settings of $interface (testbed)
After=network-pre.target rdma-hw.target sys-kernel-debug.mount sys-kernel-config.mount $first
ConditionPathExists=$promoted

[Service]
Type=oneshot
ExecStart=/usr/bin/python3 $program/reapply.py
NoNewPrivileges=yes
ProtectHome=yes
ProtectSystem=strict
PrivateTmp=yes
RestrictAddressFamilies=AF_UNIX AF_NETLINK AF_INET

[Install]
WantedBy=multi-user.target
""")
# By the slot: the kernel's name of an interface that udev is about to rename is another one (eth0). Both subsystems,
# because cc_params, configfs and PPCC need the RDMA device, which comes after the interface.
RULE = Template("""\
# Written by testbed's rollout $rollout: settings are gone when the driver is loaded again.
ACTION=="add", SUBSYSTEM=="net|infiniband", KERNELS=="$pci", TAG+="systemd", ENV{SYSTEMD_WANTS}+="$unit"
""")
NAME = "testbed-settings.service"


def promote(target: Target, rollout: str, policy: dict[str, Any] | None) -> bool:
    """Keep what a rollout made; returns whether anything was to be done. Raises LabError if it is not verified."""
    known = state.read(target)
    if known.get("rollout") != rollout:
        return False  # it found nothing to do here
    if known["phase"] == "promoted":
        return False
    if known["phase"] not in ("verify", "soak"):
        raise LabError(f"rollout '{rollout}' is in phase '{known['phase']}': only a verified one can be promoted")
    own, _ = desired.load(target)
    host_files.write(target.path(host_files.PROMOTED), target.path(ROLLOUT).read_text(encoding="utf-8"))
    for path, text in files(own, rollout).items():
        host_files.write(target.path(path), text, mode=0o644)
    run("systemctl", "daemon-reload")
    run("systemctl", "enable", NAME)
    _start_at_boot([name for name in snapshot.load(target, rollout).units if name != NAME])
    state.update(target, phase="promoted", policy=policy)
    lock.release(target, rollout)
    return True


def files(target: Target, rollout: str) -> dict[str, str]:
    """Unit and rule, by path. A switch has no card whose devices could come back."""
    names = {
        "rollout": rollout, "interface": target.interface, "pci": target.pci, "unit": NAME,
        "first": f"testbed-pcc@{target.device}.service" if target.device else "", "promoted": host_files.PROMOTED,
        "program": host_files.PROGRAM,
    }  # fmt: skip
    made = {host_files.SETTINGS_UNIT: UNIT.substitute(names)}
    return made | ({host_files.UDEV_RULE: RULE.substitute(names)} if target.pci else {})


def _start_at_boot(programs: list[str]) -> None:
    """The program that runs now, and not the one that it replaced: the card has room for one."""
    for name in programs:
        unit = units.inspect(name)
        if unit.active != unit.enabled:
            run("systemctl", "enable" if unit.active else "disable", name)
