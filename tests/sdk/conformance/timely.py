"""TIMELY (Mittal et al., SIGCOMM 2015): a rate that follows the gradient of the RTT.

It decides per segment, and eRPC limits each decrease. Without either, as here unless `segment` and `least` are set, the
start of many flows cuts their rates to nothing, where acknowledgements are too rare to bring them back.
"""

from pydantic import Field

from testbed.controller import Ack, CompiledController, Path, Signal
from testbed.plugin import PluginConfig
from testbed.units import Rate, Ratio, Size, Time


class TimelyConfig(PluginConfig):
    """Options."""

    segment: Size = Field(default=0, ge=0, description="Bytes per decision, but at most one per base RTT; 0: each ACK.")
    least: Ratio = Field(default=0, ge=0, le=1, description="Least factor of one decision (eRPC: 0.5).")
    delta: Rate = Field(default=100e6, gt=0, description="Additive increase.")
    beta: Ratio = Field(default=0.8, gt=0, le=1, description="Multiplicative decrease.")
    low: Time = Field(default=26e-6, gt=0, description="RTT below which the rate grows whatever the gradient is.")
    high: Time = Field(default=130e-6, gt=0, description="RTT above which it falls whatever the gradient is.")


class Timely(CompiledController):
    """The rate grows while the RTT falls, and falls in proportion to the gradient while it grows."""

    name = "timely"
    signals = Signal.RTT
    Config = TimelyConfig
    config: TimelyConfig
    before: float  # s, the RTT before this one
    difference: float  # s, smoothed
    next_decision: float  # s
    falling: int  # decisions in a row with a gradient that is not positive

    def __init__(self, config: TimelyConfig, path: Path) -> None:
        super().__init__(config, path)
        self.before = path.base_rtt

    def on_ack(self, ack: Ack) -> None:
        if ack.now < self.next_decision:
            return
        config, base = self.config, self.path.base_rtt
        self.difference += 0.875 * (ack.rtt - self.before - self.difference)
        self.before, gradient = ack.rtt, self.difference / base
        self.falling = self.falling + 1 if gradient <= 0 else 0
        if ack.rtt < config.low:
            self.rate += config.delta
        elif ack.rtt > config.high:
            self.rate *= max(1 - config.beta * (1 - config.high / ack.rtt), config.least)
        elif gradient <= 0:
            self.rate += config.delta * (5 if self.falling >= 5 else 1)
        else:
            self.rate *= max(1 - config.beta * gradient, config.least)
        self.rate = min(max(self.rate, 1e3), self.path.line_rate)
        if config.segment:
            self.next_decision = ack.now + max(8 * config.segment / self.rate, base)
