"""The state of a host when it is new, and what is left of it after a boot."""

from __future__ import annotations

from typing import Any

from tests.emulated_lab import cards, dcqcn, faults, ppcc, wred
from tests.emulated_lab.files import rdma_cm
from tests.emulated_lab.spec import DEVICE, NodeSpec
from tests.emulated_lab.store import State


def new(spec: NodeSpec) -> State:
    """As delivered, with the power on."""
    if spec.is_switch:
        return {"name": spec.name, "card": "", "faults": faults.none(), **wred.new()}
    state = {
        "name": spec.name,
        "card": spec.kind,
        "device": DEVICE,
        "interface": spec.interface,
        "pci": spec.pci,
        "driver": spec.driver,
        "vf": spec.vf,
        "nvconfig": cards.config(spec.kind),
        "faults": faults.none(),
        "pcc": {"owner": None},
    }
    return boot(state, power=True)


def boot(state: State, power: bool) -> State:
    """What only was set at run time is gone. ``power``: it had been off, so the card itself began anew."""
    if not state["card"]:
        return state
    if power:
        for key in state["nvconfig"].values():
            key["current"] = key["next"]
        state["pcc"] = {"owner": None}
    return state | _runtime(state)


def unload(state: State) -> State:
    """The driver was unloaded: run-time settings of it and of the card's functions are lost."""
    return state | _runtime(state) | {"rdma": False, "configfs": state["configfs"]}


def _runtime(state: State) -> dict[str, Any]:
    return {
        "rdma": True,  # the RDMA device is there, and with it cc_params
        "dcqcn": dcqcn.defaults(state["card"]),
        "roce_rp_enable": [1] * 8,
        "roce_np_enable": [1] * 8,
        "traffic_class": 0,
        "configfs": [],  # devices whose folder is there
        "rdma_cm": dict(rdma_cm.DEFAULTS),
        "qos": {
            "trust": "pcp",
            "map": [dscp >> 3 for dscp in range(64)],  # the card's own
            "dscp_prio": {},  # the kernel's table of it: while trust is pcp, there is nothing
            "pfc": [0] * 8,
            "prio_tc": list(range(8)),
            "tsa": ["vendor"] * 8,
            "tcbw": [0] * 8,
            "maxrate": [0] * 8,  # kb/s, 0 for none
            "buffer_size": [20016, 156096, 0, 0, 0, 0, 0, 0],
            "prio_buffer": [0] * 8,
            "cable_len": 7,
            "dcbx": "os",
        },
        "counters": {},
        "roce_accl": {"roce_adp_retrans_en": 1, "roce_tx_window_en": 0, "roce_slow_restart_en": 0, "cc_burst_size": 0},
        "ppcc": ppcc.new(state["card"]),
    }
