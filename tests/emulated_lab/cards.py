"""The four generations of cards: what each reports about itself, and what it starts with.

Names and defaults are from the vendor's documents; identifiers and firmware versions have the right form but were not
read from cards. A first session on hardware replaces them with what real cards print.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Card:
    """``pcc``: it has a DPA that runs programs of ours. ``line``: Mb/s. ``rtt_response``: roce_cc_general."""

    name: str  # as `mlxconfig` prints the device type
    device_id: str
    board: str
    psid: str
    firmware: str
    description: str
    line: int
    pcc: bool = False
    rtt_response: bool = True
    dcqcn: dict[str, int] = field(default_factory=dict)  # where its firmware's defaults differ
    config: dict[str, int] = field(default_factory=dict)  # its NVConfig, beyond what all have


# NVConfig that all four generations have. Booleans are printed as True(1) and False(0).
CONFIG = {
    "CNP_802P_PRIO_P1": 6,
    "CNP_DSCP_P1": 48,
    "ROCE_ADAPTIVE_ROUTING_EN": 0,
    "ROCE_CC_LEGACY_DCQCN": 1,
    "ROCE_CC_PRIO_MASK_P1": 255,
    "ROCE_RTT_RESP_DSCP_MODE_P1": 0,
    "ROCE_RTT_RESP_DSCP_P1": 0,
    "SRIOV_EN": 1,
    "LLDP_NB_DCBX_P1": 0,
}
BOOLEANS = {
    "DPA_AUTHENTICATION", "LLDP_NB_DCBX_P1", "PCC_INT_EN", "ROCE_ADAPTIVE_ROUTING_EN", "ROCE_CC_LEGACY_DCQCN",
    "SRIOV_EN", "USER_PROGRAMMABLE_CC",
}  # fmt: skip
ENUMS = {"INTERNAL_CPU_OFFLOAD_ENGINE": {0: "ENABLED", 1: "DISABLED"}}  # DPU mode, NIC mode

CARDS = {
    "bf3": Card(
        "BlueField3", "a2dc", "900-9D3B6-00CV-A_Ax", "MT_0000000884", "32.45.1020",
        "NVIDIA BlueField-3 B3220 P-Series FHHL DPU; 200GbE; Dual-port QSFP112; PCIe Gen5.0 x16",
        200_000, pcc=True, dcqcn={"rpg_min_dec_fac": 50, "initial_alpha_value": 1023},
        config={"USER_PROGRAMMABLE_CC": 1, "PCC_INT_EN": 0, "DPA_AUTHENTICATION": 0, "INTERNAL_CPU_OFFLOAD_ENGINE": 1},
    ),
    "cx7": Card(
        "ConnectX7", "1021", "MCX755106AS-HEA_Ax", "MT_0000000834", "28.45.1020",
        "NVIDIA ConnectX-7 HHHL Adapter Card; 200GbE; Dual-port QSFP112; PCIe 5.0 x16", 200_000,
    ),
    "bf2": Card(
        "BlueField2", "a2d6", "MBF2H516A-CENO_Ax", "MT_0000000560", "24.45.1020",
        "BlueField-2 DPU 100GbE Dual-Port QSFP56; PCIe Gen4 x16", 100_000,
        rtt_response=False, dcqcn={"rpg_min_dec_fac": 75}, config={"INTERNAL_CPU_OFFLOAD_ENGINE": 1},
    ),
    "cx6dx": Card(
        "ConnectX6DX", "101d", "MCX623106AN-CDA_Ax", "MT_0000000359", "22.45.1020",
        "ConnectX-6 Dx EN adapter card; 100GbE; Dual-port QSFP56; PCIe 4.0 x16", 100_000,
        dcqcn={"rpg_max_rate": 0, "rate_reduce_monitor_period": 4},
    ),
}  # fmt: skip


def config(card: str) -> dict[str, dict[str, Any]]:
    """NVConfig of a new card: default, current and next of every key."""
    keys = CONFIG | CARDS[card].config
    defaults = keys | {"USER_PROGRAMMABLE_CC": 0} if "USER_PROGRAMMABLE_CC" in keys else keys
    return {key: {"default": defaults[key], "current": value, "next": value} for key, value in sorted(keys.items())}
