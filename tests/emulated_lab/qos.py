"""Trust, DSCP map, PFC and rate limits as the mlx5 driver keeps them; `dcb`, `mlnx_qos` and sysfs are its faces."""

from __future__ import annotations

import errno
from typing import Any

PRIORITIES = 8
Qos = dict[str, Any]


def set_trust(qos: Qos, trust: str) -> None:
    """By sysfs or `mlnx_qos`: with dscp, all 64 entries are there."""
    qos["trust"] = trust
    qos["dscp_prio"] = {str(dscp): priority for dscp, priority in enumerate(qos["map"])} if trust == "dscp" else {}


def set_entry(qos: Qos, dscp: int, priority: int) -> None:
    """The first entry switches trust to DSCP. An older one for the same DSCP is gone."""
    qos["trust"] = "dscp"
    qos["map"][dscp] = priority
    qos["dscp_prio"][str(dscp)] = priority


def delete_entry(qos: Qos, dscp: int, priority: int) -> None:
    """The last one switches trust to PCP; what had it goes to priority 0. Raises OSError(ENOENT) if it is not there."""
    if qos["dscp_prio"].get(str(dscp)) != priority:
        raise OSError(errno.ENOENT, "No such file or directory")
    del qos["dscp_prio"][str(dscp)]
    qos["map"][dscp] = 0
    if not qos["dscp_prio"]:
        qos["trust"] = "pcp"


def rounded(kilobits: int) -> int:
    """A rate limit as the card stores it: in steps of 100 Mb/s up to 25.5 Gb/s, of 1 Gb/s above, rounded down."""
    step = 100_000 if kilobits <= 25_500_000 else 1_000_000
    return kilobits // step * step
