"""A host's files in a folder, and fake tools: plain files, for which nobody has to be root."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

from testbed.live.lab_names import HARDWARE

SYSFS, DEVICE, PCI = "/sys/class/net/enp1s0f0np0/ecn", "/sys/class/infiniband/mlx5_0", "0000:03:00.0"
SHA256 = "ab" * 32
POLICY = {"controller": "adpg", "version": "0.1.0", "sha256": SHA256}

TREE = {
    f"{SYSFS}/roce_rp/rpg_ai_rate": "50",
    f"{SYSFS}/roce_rp/rpg_gd": "11",
    f"{SYSFS}/roce_rp/enable/3": "1",
    f"{SYSFS}/roce_np/cnp_dscp": "48",
    f"{SYSFS}/roce_np/enable/3": "0",
    f"{DEVICE}/device/uevent": f"DRIVER=mlx5_core\nPCI_SLOT_NAME={PCI}",
    f"{DEVICE}/device/net/enp1s0f0np0/type": "1",
    f"{DEVICE}/tc/1/traffic_class": "Global tclass=106",
    f"{DEVICE}/ports/1/rate": "200 Gb/sec (4X HDR)",
    f"{DEVICE}/ports/1/counters/port_xmit_data": "1000",
    f"{DEVICE}/ports/1/counters/port_xmit_packets": "7",
    f"{DEVICE}/ports/1/counters/port_xmit_discards": "3",
    f"{DEVICE}/ports/1/hw_counters/rp_cnp_handled": "12",
    f"{DEVICE}/ports/1/hw_counters/np_cnp_sent": "34",
    f"{DEVICE}/ports/1/hw_counters/lifespan": "10",
    "/sys/kernel/debug/mlx5/0000:03:00.0/cc_params/rp_ai_rate": "0x32",
    "/sys/kernel/debug/mlx5/0000:03:00.0/cc_params/np_cnp_prio": "6",
}

ETHTOOL = """\
NIC statistics:
     rx_packets: 5
     rx_prio3_pause: 4
     rx_prio3_pause_duration: 2500000
     rx_prio3_pause_transition: 2
     tx_prio3_pause: 6
     tx_prio3_pause_duration: 1000000
     tx_prio4_pause: 1
     tx_prio4_pause_duration: 500000
"""

MLXREG = """\
#!/bin/sh
# PPCC as mlxreg prints it, from files; what it was asked goes to $ASKED.
echo "$@" >> "$ASKED"
command=${6#cmd_type=}
rest=${10#*algo_slot=}
cat "${0%/*}/answers/$command-${rest%%,*}-${rest##*=}" && exit 0
echo "-E- Failed to send access register: ME_REG_ACCESS_BAD_PARAM"
exit 1
"""


def _text(said: str) -> dict[str, int]:
    padded = said.encode().ljust(-(-len(said) // 4) * 4, b"\0")
    letters = [int.from_bytes(padded[at : at + 4], "big") for at in range(0, len(padded), 4)]
    return {"text_length": len(said), **_words(*letters)}


def _words(*values: int) -> dict[str, int]:
    return {f"text[{at}]": value for at, value in enumerate(values)}


PPCC: dict[str, dict[str, int]] = {  # by command, slot and index; slot 15 has an algorithm and answers nothing
    "0x10-0-0": _words(0xAD960001, *[0] * 14, 0x00010100),
    "0x0-0-0": _text("ADPG, trees"),
    "0x3-0-0": {"value": 1},
    "0x4-0-0": {"value": 2},
    "0x5-0-0": _text("START_RATE_FXP20, of a new flow"),
    "0x5-0-1": _text("LEAST_RATE_FXP20, of any"),
    "0xa-0-0": _words(65536, 11),
    "0xe-0-0": {"value": 1},
    "0xf-0-0": _text("RTT_EVENTS, answers"),
    "0xc-0-0": _words(99),
}


def put(root: Path, path: str, text: str) -> Path:
    file = root / path.lstrip("/")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text + "\n")
    return file


def plant(root: Path) -> Path:
    """The tree without what we ourselves put on a host."""
    for path, text in TREE.items():
        put(root, path, text)
    return root


def wanted(**settings: str) -> dict[str, Any]:
    """What a rollout writes; ``settings`` replaces what some files should say."""
    values = {"roce_rp/rpg_ai_rate": "50", "cc_params/rp_ai_rate": "50", "traffic_class": "106", **settings}
    paths = {
        "roce_rp/rpg_ai_rate": f"{SYSFS}/roce_rp/rpg_ai_rate",
        "cc_params/rp_ai_rate": f"/sys/kernel/debug/mlx5/{PCI}/cc_params/rp_ai_rate",
        "traffic_class": f"{DEVICE}/tc/1/traffic_class",
    }
    device = {
        "interface": "enp1s0f0np0", "pci": PCI, "port": 1,
        "settings": {name: {"path": paths[name], "value": value} for name, value in values.items()},
        "pcc": {"slot": 0, "parameters": {"START_RATE_FXP20": 65536}},
    }  # fmt: skip
    return {"version": 1, "rollout": "r1", "policy": POLICY, "devices": {"mlx5_0": device}, "settings": []}


def roll_out(root: Path, phase: str = "verify", **settings: str) -> None:
    """The host after a rollout: what is wanted, the state, and a program on the NIC."""
    put(root, "/etc/testbed/rollout.json", json.dumps(wanted(**settings)))
    state = {"version": 1, "rollout": "r1", "phase": phase, "last_apply": 1763667000.5, "policy": POLICY}
    put(root, "/var/lib/testbed/state.json", json.dumps(state))
    put(root, "/run/testbed/pcc/mlx5_0.log", "DOCA\nPCC host status Standby\nPCC host status Active")
    put(root, "/run/testbed/pcc/mlx5_0.pid", str(os.getpid()))


def registers(root: Path, age: float = 0.0, **parameters: int) -> None:
    """As the process that is root would have written it ``age`` s ago."""
    slot = {"algorithm": "ADPG", "enabled": True, "parameters": {"START_RATE_FXP20": 65536, **parameters}}
    one = {"cc_params": {"rp_ai_rate": 50}, "pcc": {"0": {**slot, "counters": {"RTT_EVENTS": 99}}}, "errors": 0}
    told = {"version": 1, "time": time.time() - age, "devices": {"mlx5_0": one}}
    put(root, "/run/testbed/registers.json", json.dumps(told))


def every_counter(root: Path) -> None:
    """Hardware counters that `TREE` leaves out, as some drivers do."""
    for name in HARDWARE:
        put(root, f"{DEVICE}/ports/1/hw_counters/{name}", "1")


def tools(folder: Path) -> Path:
    """A folder with `ethtool` and `mlxreg` for PATH."""
    folder.mkdir(exist_ok=True)
    (folder / "answers").mkdir(exist_ok=True)
    for asked, answer in PPCC.items():
        rows = "".join(f"{name:<22}| 0x{value:08x}\n" for name, value in {"value": 0, **answer}.items())
        (folder / "answers" / asked).write_text(f"Sending access register...\n\nField Name | Data\n===\n{rows}")
    (folder / "statistics").write_text(ETHTOOL)
    for name, text in (("ethtool", f'#!/bin/sh\ncat "{folder}/statistics"\n'), ("mlxreg", MLXREG)):
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    return folder
