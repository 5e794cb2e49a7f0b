"""DCQCN's parameters as a NIC has them: one value behind a file in sysfs and one in debugfs, with a range."""

from __future__ import annotations

import errno
import re
from dataclasses import dataclass

from tests.emulated_lab.cards import CARDS
from tests.emulated_lab.store import State

LINE = -1  # as a maximum: the port's rate in Mb/s
MICROSECONDS = 131_071  # 17 bits
UINT32 = 0xFFFFFFFF
# As the kernel reads a u32 whose base is not given: one newline may follow, and nothing else.
NUMBER = re.compile(r"\+?(?:0[xX](?P<hex>[0-9a-fA-F]+)|0(?P<octal>[0-7]+)|(?P<decimal>0|[1-9][0-9]*))\n?")


@dataclass(frozen=True)
class Parameter:
    """Named as in sysfs; "" where only one of the drivers has it. Values are decimal numbers in ``low``..``high``.

    ``bits``: of its field in the firmware's command, to which the mainline driver cuts a number without a word.
    """

    name: str
    sysfs: str
    debugfs: str
    default: int
    low: int
    high: int
    bits: int = 32


def _rp(  # noqa: PLR0917 - columns of the table below
    name: str, debugfs: str, default: int, low: int, high: int, bits: int = 32
) -> Parameter:
    return Parameter(name, f"roce_rp/{name}", f"rp_{debugfs}", default, low, high, bits)


PARAMETERS = [
    _rp("clamp_tgt_rate", "clamp_tgt_rate", 0, 0, 1, 1),
    _rp("clamp_tgt_rate_after_time_inc", "clamp_tgt_rate_ati", 1, 0, 1, 1),
    _rp("rpg_time_reset", "time_reset", 300, 1, MICROSECONDS),
    _rp("rpg_byte_reset", "byte_reset", 32767, 0, 32767),
    _rp("rpg_threshold", "threshold", 1, 1, 31),
    _rp("rpg_max_rate", "max_rate", 0, 0, LINE),
    _rp("rpg_ai_rate", "ai_rate", 5, 1, LINE),
    _rp("rpg_hai_rate", "hai_rate", 50, 1, LINE),
    _rp("rpg_gd", "gd", 11, 0, 15),
    _rp("rpg_min_dec_fac", "min_dec_fac", 50, 0, 100),
    _rp("rpg_min_rate", "min_rate", 1, 1, LINE),
    _rp("rate_to_set_on_first_cnp", "rate_to_set_on_first_cnp", 0, 0, LINE),
    _rp("dce_tcp_g", "dce_tcp_g", 1019, 0, 1023),
    _rp("dce_tcp_rtt", "dce_tcp_rtt", 1, 1, MICROSECONDS),
    _rp("rate_reduce_monitor_period", "rate_reduce_monitor_period", 4, 1, MICROSECONDS),
    _rp("initial_alpha_value", "initial_alpha_value", 1023, 0, 1023),
    Parameter("min_time_between_cnps", "roce_np/min_time_between_cnps", "np_min_time_between_cnps", 4, 0, MICROSECONDS),
    Parameter("cnp_dscp", "roce_np/cnp_dscp", "np_cnp_dscp", 48, 0, 63, 6),
    Parameter("cnp_prio_mode", "", "np_cnp_prio_mode", 1, 0, 1, 1),
    Parameter("cnp_802p_prio", "roce_np/cnp_802p_prio", "np_cnp_prio", 6, 0, 7, 3),
    Parameter("rtt_resp_dscp_valid", "", "rtt_resp_dscp_valid", 0, 0, 1, 1),
    Parameter("rtt_resp_dscp", "", "rtt_resp_dscp", 0, 0, 63, 6),
]


def defaults(card: str) -> dict[str, int]:
    """What a card's firmware starts with."""
    return {parameter.name: parameter.default for parameter in PARAMETERS} | CARDS[card].dcqcn


def by_sysfs(state: State, parameter: Parameter, text: str) -> None:
    """MLNX_OFED's driver: a decimal number within the range. Raises OSError(EINVAL)."""
    try:
        value = int(text.strip())
    except ValueError:
        raise OSError(errno.EINVAL, parameter.name) from None
    _store(state, parameter, value)


def by_debugfs(state: State, parameter: Parameter, text: str) -> None:
    """The mainline driver: any base, cut to the field, and the firmware looks at what is left. Raises OSError."""
    match = NUMBER.fullmatch(text)
    if match is None:
        raise OSError(errno.EINVAL, parameter.name)
    value = (
        int(match["hex"], 16) if match["hex"] else int(match["octal"] or match["decimal"], 8 if match["octal"] else 10)
    )
    if value > UINT32:
        raise OSError(errno.ERANGE, parameter.name)
    _store(state, parameter, value & (1 << parameter.bits) - 1)


def _store(state: State, parameter: Parameter, value: int) -> None:
    """What the firmware does, with the driver's effects on others. Raises OSError(EINVAL) for what is out of range."""
    high = CARDS[state["card"]].line if parameter.high == LINE else parameter.high
    if not parameter.low <= value <= high:
        raise OSError(errno.EINVAL, parameter.name)
    state["dcqcn"][parameter.name] = value
    if parameter.name == "cnp_802p_prio":
        state["dcqcn"]["cnp_prio_mode"] = 0
    if parameter.name == "rtt_resp_dscp":
        state["dcqcn"]["rtt_resp_dscp_valid"] = 1
