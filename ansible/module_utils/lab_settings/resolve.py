"""Settings that two drivers show in different places: ``dcqcn`` and ``qos`` become a backend that this host has.

There is exactly one for each. Neither being there is a refusal, for example on a virtual function.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from .backend import Backend, Setting
from .errors import Refused
from .shared_names import DEBUGFS

CHOICES = {"dcqcn": ("ecn", "cc_params"), "qos": ("mlnx_qos", "dcb")}

HELPS = {
    "dcqcn": "load mlx5_ib and mount -t debugfs none /sys/kernel/debug, or install MLNX_OFED or DOCA-OFED",
    "qos": "install iproute2 with dcb, or mlnx-tools",
}


def resolve(settings: Iterable[Setting], backends: Mapping[str, Backend]) -> tuple[list[Setting], list[str]]:
    """The same settings for this host, and warnings about those that its driver does not have."""
    found: list[Setting] = []
    warnings: list[str] = []
    live: dict[str, str] = {}
    for setting in settings:
        if setting.backend not in CHOICES:
            found.append(setting)
            continue
        backend = live.setdefault(setting.backend, choose(setting.backend, backends))
        if backend != "cc_params":
            found.append(Setting(backend, setting.name, setting.value))
        elif setting.name in DEBUGFS:
            found.append(Setting(backend, DEBUGFS[setting.name], setting.value))
        else:
            warnings.append(f"the mainline driver has no {setting.name}; the firmware's own value stays")
    return found, warnings


def choose(family: str, backends: Mapping[str, Backend]) -> str:
    """The backend of a family that this host has. Raises Refused with what was looked for."""
    for name in CHOICES[family]:
        if backends[name].names():
            return name
    target = next(iter(backends.values())).target
    raise Refused(
        f"no-{family}",
        f"{target.interface} has no {family} settings: neither {' nor '.join(CHOICES[family])} is there; "
        f"{HELPS[family]} (a virtual function has none)",
    )
