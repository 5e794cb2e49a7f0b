"""NVIDIA's public RTT template for DOCA PCC: the rate goes up a step or down by a share, once per RTT probe.

It is the only text of an algorithm in DOCA's samples (`applications/pcc/device/rp/rtt_template`), meant as an example.
The algorithm that cards ship with, ZTR-RTTCC, is not public, and this is not it.

* One probe is on its way at a time. Here every acknowledgement has an RTT, so the probe is the first packet that leaves
  after the last decision; a later one replaces it if it was lost, where the card asks again after 300 us.
* DOCA 2 compares the RTT itself with 13 us, DOCA 3 what it is above the least RTT: presets. A comment at the share of a
  decrease says 0.08, its value is 0.10.
* A NACK counts only once an RTT is as long as ``max_delay``, and is remembered until then.
* A step of 5 % of the line rate is for one flow per link: N flows grow by 5 N % per RTT. Without CNPs, eight of them
  fill the buffer.
* Left out: doubled decreases while the card's port is used by more than 85 % (an option of the sample's build), and
  that DOCA 3 measures the least RTT anew every few hundred RTTs.
* Timeouts: a card has none; here they are a NACK with a long RTT.
"""

from __future__ import annotations

from typing import Any, ClassVar

from pydantic import Field

from testbed.controller import Ack, CompiledController, Path, Signal
from testbed.plugin import PluginConfig
from testbed.units import Ratio, Time

ON_CNP, ON_NACK = 2, 5  # times the share of a decrease


class RttTemplateConfig(PluginConfig):
    """Options of `RttTemplate`; the defaults are those of DOCA 3. Times are used as published."""

    decrease: Ratio = Field(default=0.1, gt=0, le=0.2, description="UPDATE_FACTOR: share that a long RTT takes off.")
    additive: Ratio = Field(default=0.05, gt=0, le=1, description="AI, as a share of the line rate.")
    long_rtt: Time = Field(default=13e-6, gt=0, description="BASE_RELATIVE_RTT, BASE_RTT: more is a long RTT.")
    relative: bool = Field(default=True, description="long_rtt is above the least RTT, not of the RTT itself.")
    max_delay: Time = Field(default=150e-6, gt=0, description="MAX_DELAY: RTT that counts as a CNP.")
    initial_min_rtt: Time = Field(default=200e-6, gt=0, description="INITIAL_MIN_RTT: the least RTT is at most that.")
    start_rate: Ratio = Field(default=1, gt=0, le=1, description="NEW_FLOW_RATE, as a share of the line rate.")
    min_rate: Ratio = Field(default=2**-14, gt=0, le=1, description="MIN_RATE, as a share of the line rate.")
    cnp_interval: Time = Field(default=4e-6, ge=0, description="Least time between a flow's CNPs, at the receiver.")


class RttTemplate(CompiledController):
    """NVIDIA's public RTT template: a step up per RTT, a share down on a long one, a CNP or losses."""

    name = "rtt-template"
    signals = Signal.RTT | Signal.CNP
    Config = RttTemplateConfig
    presets: ClassVar[dict[str, dict[str, Any]]] = {
        "doca-3": {},
        "doca-2": {"relative": False},
    }

    config: RttTemplateConfig
    probe: int  # number of the packet whose RTT decides
    min_rtt: float  # s
    was_cnp: bool
    was_nack: bool

    def __init__(self, config: RttTemplateConfig, path: Path) -> None:
        super().__init__(config, path)
        self.min_rtt = config.initial_min_rtt
        self.rate = config.start_rate * path.line_rate

    @classmethod
    def cnp_interval(cls, config: PluginConfig) -> float:
        assert isinstance(config, RttTemplateConfig)
        return config.cnp_interval

    def on_ack(self, ack: Ack) -> None:
        if ack.seq < self.probe:
            return
        self.probe = ack.next_seq
        config, rtt = self.config, ack.rtt
        self.min_rtt = min(self.min_rtt, rtt)
        if self.was_nack and rtt >= config.max_delay:
            self.was_nack = False
            self.cut(ON_NACK)
        elif self.was_cnp or rtt >= config.max_delay:
            self.was_cnp = False
            self.cut(ON_CNP)
        elif (rtt - self.min_rtt if config.relative else rtt) > config.long_rtt:
            self.cut(1)
        else:
            self.rate = min(self.rate + config.additive * self.path.line_rate, self.path.line_rate)

    def on_cnp(self, now: float) -> None:  # noqa: ARG002 - part of the interface
        self.was_cnp = True

    def on_loss(self, now: float, packets: int) -> None:  # noqa: ARG002 - part of the interface
        self.was_nack = True

    def on_timeout(self, now: float, packets: int) -> None:  # noqa: ARG002 - part of the interface
        self.cut(ON_NACK)

    def cut(self, times: int) -> None:
        line = self.path.line_rate
        self.rate = max(self.rate * (1 - times * self.config.decrease), self.config.min_rate * line)
