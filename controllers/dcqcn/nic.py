"""DCQCN's options as settings of NVIDIA's firmware (ConnectX, BlueField): names, units and ranges of its documentation.

Source: NVIDIA, "DCQCN CC parameters" (networking-docs.nvidia.com). alpha is an integer of 10 bits there and the cut is
alpha >> rpg_gd, so that a shift of 11 is DCQCN's alpha / 2.
"""

from __future__ import annotations

from testbed.controller import Firmware, FirmwareSetting

from .options import DcqcnConfig

FRACTION = 1024  # of g and alpha
HALF_OF_ALPHA = 11
BY_BOOLEANS = {"cnp": (1, 0), "increase": (0, 1), "byte_increase": (0, 0)}  # clamp always, or after the timer's steps


def firmware(config: DcqcnConfig, line_rate: float) -> Firmware:
    """Settings for a port of ``line_rate`` (bit/s), and in words what the firmware does otherwise."""
    scale = line_rate / config.reference_rate
    always, after_timer = BY_BOOLEANS[config.clamp_target]
    settings = {
        "clamp_tgt_rate": FirmwareSetting(always, "bool"),
        "clamp_tgt_rate_after_time_inc": FirmwareSetting(after_timer, "bool"),
        "rpg_time_reset": _microseconds(config.increase_timer),
        "rpg_threshold": FirmwareSetting(config.recovery_steps, "steps"),
        "rpg_max_rate": FirmwareSetting(0, "Mbit/s (0: line rate)"),
        "rpg_ai_rate": _megabits(config.additive * scale),
        "rpg_hai_rate": _megabits(config.hyper * scale),
        "rpg_gd": FirmwareSetting(HALF_OF_ALPHA, "bits"),
        "rpg_min_dec_fac": FirmwareSetting(round(config.min_decrease * 100), "%"),
        "rpg_min_rate": _megabits(min(config.min_rate * scale, line_rate)),
        "rate_to_set_on_first_cnp": FirmwareSetting(0, "Mbit/s (0: no jump)"),
        "dce_tcp_g": FirmwareSetting(round((1 - config.g) * FRACTION), "1/1024"),
        "dce_tcp_rtt": _microseconds(config.alpha_period),
        "rate_reduce_monitor_period": _microseconds(config.cut_period),
        "initial_alpha_value": FirmwareSetting(min(round(config.initial_alpha * FRACTION), FRACTION - 1), "1/1024"),
    }
    named = {f"roce_rp/{name}": setting for name, setting in settings.items()}
    named["roce_np/min_time_between_cnps"] = _microseconds(config.cnp_interval)
    return Firmware(named, tuple(_differences(config)))


def _differences(config: DcqcnConfig) -> list[str]:
    found = []
    if config.byte_counter:
        found.append("rpg_byte_reset stays as it is: the unit of the firmware's byte counter differs between documents")
    if config.cut_period == 0:
        found.append("rate_reduce_monitor_period is 1 us: the firmware cuts once per period, here every CNP cuts")
    if config.order == "cut_first":
        found.append("the firmware is taken to raise alpha before it cuts by it (alpha_first), here the cut is first")
    if config.hyper_growth:
        found.append("the firmware's hyper increase is the same in every step, here it grows from step to step")
    if config.window != "none":
        found.append(f"the firmware has no window; here it is '{config.window}'")
    if config.additive == 0 or config.hyper == 0:
        found.append("an increase of 0 becomes 1 Mbit/s, the least that the firmware has")
    return found


def _microseconds(seconds: float) -> FirmwareSetting:
    return FirmwareSetting(max(1, round(seconds * 1e6)), "us")


def _megabits(rate: float) -> FirmwareSetting:
    return FirmwareSetting(max(1, round(rate / 1e6)), "Mbit/s")
