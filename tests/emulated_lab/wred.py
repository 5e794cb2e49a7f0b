"""A switch's WRED profiles, and SONiC's other tables."""

from __future__ import annotations

from typing import Any

PROFILE = "AZURE_LOSSLESS"
PORTS = {"Ethernet0": "1,2,3,4", "Ethernet4": "5,6,7,8", "Ethernet8": "9,10,11,12"}


def new() -> dict[str, Any]:
    """The defaults: one lossless profile of 1 MB, 2 MB, 5 %, for all queues 3 and 4."""
    return {
        "wred": {
            PROFILE: {
                "ecn": "ecn_all",
                "wred_green_enable": "true",
                "green_min_threshold": "1048576",
                "green_max_threshold": "2097152",
                "green_drop_probability": "5",
            }
        },
        "config_db": {
            "PORT": {port: {"speed": "100000", "lanes": lanes} for port, lanes in PORTS.items()},
            "SCHEDULER": {"scheduler.0": {"type": "DWRR", "weight": "14"}},
            "QUEUE": {
                f"{port}|{queue}": {"scheduler": "scheduler.0", "wred_profile": PROFILE}
                for port in PORTS
                for queue in (3, 4)
            },
            "PORT_QOS_MAP": {port: {"pfc_enable": "3,4"} for port in PORTS},
        },
        "orchagent": True,
        "nvue": {"applied": {}, "staged": {}},
    }
