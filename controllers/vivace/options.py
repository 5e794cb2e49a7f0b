"""The options of Vivace."""

from __future__ import annotations

from pydantic import Field

from testbed.plugin import PluginConfig
from testbed.units import Ratio


class VivaceConfig(PluginConfig):
    """Options of `Vivace`; the defaults are the paper's. Rates are counted in thousandths of the line rate."""

    exponent: float = Field(default=0.9, gt=0, lt=1, description="t: a rate x is worth x^t, without delay and loss.")
    latency: float = Field(default=900, ge=0, description="b: cost of a growing RTT, times rate and growth (s/s).")
    loss: float = Field(default=11.35, ge=0, description="c: cost of losses, times rate and share of losses.")
    least_growth: Ratio = Field(default=0.01, ge=0, le=1, description="An RTT that grows by less counts as constant.")
    probe: Ratio = Field(default=0.05, gt=0, lt=1, description="epsilon: how far probes are from the rate.")
    step: float = Field(default=1, gt=0, description="theta: change of the rate per gradient of the utility.")
    bound: Ratio = Field(default=0.05, gt=0, le=1, description="omega: largest change, as a share of the rate.")
    bound_growth: Ratio = Field(default=0.1, ge=0, le=1, description="delta: added to it by a change that it limits.")
    start_rate: Ratio = Field(default=0.05, gt=0, le=1, description="Rate of a new flow, as a share of the line rate.")
