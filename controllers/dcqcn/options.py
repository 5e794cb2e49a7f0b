"""The options of DCQCN's reaction point."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from testbed.plugin import PluginConfig
from testbed.units import Rate, Ratio, Size, Time


class DcqcnConfig(PluginConfig):
    """Options of `Dcqcn`; the defaults are the paper's. Rates and bytes are those of a line of ``reference_rate``."""

    reference_rate: Rate = Field(default=40e9, gt=0, description="Line rate for which rates and bytes are given.")
    g: float = Field(default=1 / 256, gt=0, le=1, description="Weight of a new sample in alpha.")
    initial_alpha: float = Field(default=1, ge=0, le=1, description="alpha of a new flow.")
    alpha_period: Time = Field(default=55e-6, gt=0, description="K: alpha decays once per K without a CNP.")
    cnp_interval: Time = Field(default=50e-6, ge=0, description="N: least time between a flow's CNPs, at the receiver.")
    cut_period: Time = Field(default=0, ge=0, description="At most one cut per period; 0: every CNP cuts.")
    min_decrease: Ratio = Field(default=0.5, ge=0, lt=1, description="One cut keeps at least this share of the rate.")
    order: Literal["cut_first", "alpha_first"] = Field(default="cut_first", description="On a CNP: which comes first.")
    clamp_target: Literal["cnp", "increase", "byte_increase"] = Field(
        default="cnp",
        description="When a cut sets the target to the rate before it: always, or if the rate (or the byte counter) "
        "has stepped up since the last cut.",
    )
    increase_timer: Time = Field(default=55e-6, gt=0, description="Time per increase.")
    byte_counter: Size = Field(default=10e6, ge=0, description="Bytes sent per increase; 0: timer only.")
    recovery_steps: int = Field(default=5, ge=0, description="F: increases that halve the gap to the target.")
    additive: Rate = Field(default=40e6, ge=0, description="R_AI: added per additive increase.")
    hyper: Rate = Field(default=200e6, ge=0, description="R_HAI: added per hyper increase.")
    hyper_growth: bool = Field(default=True, description="The i-th hyper increase in a row adds i times R_HAI, as QCN.")
    min_rate: Rate = Field(default=1e6, gt=0, description="No cut goes below it.")
    window: Literal["none", "bdp"] = Field(default="none", description="Cap the bytes in flight at one BDP.")
