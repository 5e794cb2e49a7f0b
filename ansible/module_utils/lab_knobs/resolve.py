"""Settings that two drivers show in different places: ``dcqcn`` and ``qos`` become a backend that this host has.

There is exactly one for each. Neither being there is a refusal, for example on a virtual function.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from .backend import Backend, Knob
from .errors import Refused

# MLNX_OFED's sysfs name to the name in mainline's debugfs (drivers/infiniband/hw/mlx5/cong.c).
DEBUGFS = {
    "roce_rp/clamp_tgt_rate": "rp_clamp_tgt_rate",
    "roce_rp/clamp_tgt_rate_after_time_inc": "rp_clamp_tgt_rate_ati",
    "roce_rp/rpg_time_reset": "rp_time_reset",
    "roce_rp/rpg_byte_reset": "rp_byte_reset",
    "roce_rp/rpg_threshold": "rp_threshold",
    "roce_rp/rpg_max_rate": "rp_max_rate",
    "roce_rp/rpg_ai_rate": "rp_ai_rate",
    "roce_rp/rpg_hai_rate": "rp_hai_rate",
    "roce_rp/rpg_gd": "rp_gd",
    "roce_rp/rpg_min_dec_fac": "rp_min_dec_fac",
    "roce_rp/rpg_min_rate": "rp_min_rate",
    "roce_rp/rate_to_set_on_first_cnp": "rp_rate_to_set_on_first_cnp",
    "roce_rp/dce_tcp_g": "rp_dce_tcp_g",
    "roce_rp/dce_tcp_rtt": "rp_dce_tcp_rtt",
    "roce_rp/rate_reduce_monitor_period": "rp_rate_reduce_monitor_period",
    "roce_rp/initial_alpha_value": "rp_initial_alpha_value",
    "roce_np/min_time_between_cnps": "np_min_time_between_cnps",
    "roce_np/cnp_dscp": "np_cnp_dscp",
    "roce_np/cnp_802p_prio": "np_cnp_prio",
}
CHOICES = {"dcqcn": ("ecn", "cc_params"), "qos": ("mlnx_qos", "dcb")}


def resolve(knobs: Iterable[Knob], backends: Mapping[str, Backend]) -> tuple[list[Knob], list[str]]:
    """The same knobs for this host, and warnings about those that its driver does not have."""
    found: list[Knob] = []
    warnings: list[str] = []
    live: dict[str, str] = {}
    for knob in knobs:
        if knob.backend not in CHOICES:
            found.append(knob)
            continue
        backend = live.setdefault(knob.backend, choose(knob.backend, backends))
        if backend != "cc_params":
            found.append(Knob(backend, knob.name, knob.value))
        elif knob.name in DEBUGFS:
            found.append(Knob(backend, DEBUGFS[knob.name], knob.value))
        else:
            warnings.append(f"the mainline driver has no {knob.name}; the firmware's own value stays")
    return found, warnings


def choose(family: str, backends: Mapping[str, Backend]) -> str:
    """The backend of a family that this host has. Raises Refused with what was looked for."""
    for name in CHOICES[family]:
        if backends[name].names():
            return name
    target = next(iter(backends.values())).target
    raise Refused(
        f"no-{family}",
        f"{target.interface} has no {family} settings: neither {' nor '.join(CHOICES[family])} is there (a virtual "
        "function has none; debugfs must be mounted for cc_params)",
    )
