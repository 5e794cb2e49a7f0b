"""Swift: AIMD of a fractional window on delay against a per-flow target (Kumar et al., SIGCOMM 2020, section 3).

The data plane reflects acknowledgements in the kernel and takes the RTT between the two NIC hooks, so that the delay
at the end points is 0: all of the RTT is fabric delay, and there is no end-point window.

The published times hold for a base RTT of ``reference_rtt``; on another path they scale with its base RTT.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar, Literal

from pydantic import Field

from testbed.controller import Ack, CompiledController, Path, Signal
from testbed.plugin import PluginConfig
from testbed.units import Ratio, Time


class SwiftConfig(PluginConfig):
    """Options of `Swift`; windows are counted in full packets. The authors give no complete set of values."""

    reference_rtt: Time = Field(default=8e-6, ge=0, description="Base RTT for which times are given; 0: do not scale.")
    base_target: Time = Field(default=12e-6, gt=0, description="Target delay before the two terms below.")
    per_hop: Time = Field(default=0.5e-6, ge=0, description="Added to the target per switch.")
    fs_range: Time = Field(default=32e-6, ge=0, description="Most that flow scaling adds to the target.")
    fs_min: float = Field(default=0.1, gt=0, description="Window up to which flow scaling adds all of fs_range.")
    fs_max: float = Field(default=100, gt=0, description="Window from which flow scaling adds nothing.")
    additive: float = Field(default=1, gt=0, description="ai: growth of the window per RTT.")
    beta: float = Field(default=0.8, gt=0, description="Share of the excess delay that a cut takes off.")
    max_cut: Ratio = Field(default=0.5, gt=0, lt=1, description="max_mdf: most that one cut takes off.")
    min_window: float = Field(default=0.001, gt=0, description="No cut goes below it.")
    max_window: float = Field(default=0, ge=0, description="0: two bandwidth-delay products.")
    initial_window: float = Field(default=0, ge=0, description="0: one bandwidth-delay product.")
    retransmit_reset: int = Field(default=5, ge=1, description="Timeouts in a row that reset the window to the least.")
    pacing: Literal["below_one", "always"] = Field(
        default="below_one", description="Pace at window per RTT below one packet (as published), or always."
    )


class Swift(CompiledController):
    """Swift: a window that grows below the target delay and is cut, once per RTT, above it."""

    name = "swift"
    signals = Signal.RTT
    Config = SwiftConfig
    presets: ClassVar[dict[str, dict[str, Any]]] = {
        "recommended": {},
        "htsim": {
            "reference_rtt": "12 us", "base_target": "20 us", "per_hop": "3.05 us", "fs_range": "100 us",
            "fs_max": 100, "min_window": 0.01, "max_window": 1000, "initial_window": 12,
        },
        # Bolt's authors name no base RTT; 13 us is that of the other simulations of the time.
        "bolt": {
            "reference_rtt": "13 us", "base_target": "25 us", "per_hop": "1 us", "fs_range": "100 us",
            "fs_max": 256, "min_window": 0.003, "max_window": 256,
        },
    }  # fmt: skip

    config: SwiftConfig
    cwnd: float  # packets
    rtt: float  # s, the newest sample
    cut_since: float = -math.inf  # s, time of the last decrease
    timeouts: int  # in a row
    base_target: float  # s
    fs_range: float  # s
    a: float
    b: float
    max_cwnd: float

    def __init__(self, config: SwiftConfig, path: Path) -> None:
        super().__init__(config, path)
        scale = path.base_rtt / config.reference_rtt if config.reference_rtt else 1.0
        self.base_target = scale * (config.base_target + path.hops * config.per_hop)
        # FBS(w) = a / sqrt(w) + b is fs_range at fs_min and 0 at fs_max; both are in units of fs_range here.
        self.fs_range = scale * config.fs_range
        self.a = 1 / (config.fs_min**-0.5 - config.fs_max**-0.5)
        self.b = -self.a * config.fs_max**-0.5
        bdp = path.bdp / path.wire_size
        self.max_cwnd = max(config.max_window or 2 * bdp, config.min_window)
        self.rtt = path.base_rtt
        self.set_cwnd(0.0, config.initial_window or bdp)

    def target(self) -> float:
        """Target delay in seconds at the present window (section 3.5)."""
        scaling = min(max(self.a / math.sqrt(self.cwnd) + self.b, 0.0), 1.0)
        return self.base_target + self.fs_range * scaling

    def on_ack(self, ack: Ack) -> None:
        """Algorithm 1: additive increase below the target, a cut by the excess delay, once per RTT, above it."""
        config = self.config
        self.rtt = ack.rtt
        self.timeouts = 0
        target, cwnd = self.target(), self.cwnd
        if ack.rtt < target:
            cwnd += config.additive * ack.packets / max(cwnd, 1.0)
        elif ack.now - self.cut_since >= ack.rtt:
            cwnd *= max(1 - config.beta * (1 - target / ack.rtt), 1 - config.max_cut)
        self.set_cwnd(ack.now, cwnd)

    def on_loss(self, now: float, packets: int) -> None:  # noqa: ARG002 - part of the interface
        self.timeouts = 0
        self.cut_most(now)

    def on_timeout(self, now: float, packets: int) -> None:  # noqa: ARG002 - part of the interface
        self.timeouts += 1
        if self.timeouts >= self.config.retransmit_reset:
            self.set_cwnd(now, self.config.min_window)
        else:
            self.cut_most(now)

    def cut_most(self, now: float) -> None:
        """What a loss asks for: the largest cut, once per RTT."""
        if now - self.cut_since >= self.rtt:
            self.set_cwnd(now, self.cwnd * (1 - self.config.max_cut))

    def set_cwnd(self, now: float, wanted: float) -> None:
        """The window, within its bounds, and what follows from it."""
        config, line, wire = self.config, self.path.line_rate, self.path.wire_size
        cwnd = min(max(wanted, config.min_window), self.max_cwnd)
        if cwnd < self.cwnd:  # strictly: a window that merely did not grow must not put off the next cut
            self.cut_since = now
        self.cwnd = cwnd
        paced = min(cwnd * (8 * wire) / self.rtt, line)
        # The window lets one packet through at least: below that the rate alone holds the flow back.
        if config.pacing == "always":
            self.rate = paced
            self.window = math.ceil(cwnd) * wire
        else:
            self.rate = paced if cwnd < 1 else line
            self.window = max(cwnd, 1.0) * wire
