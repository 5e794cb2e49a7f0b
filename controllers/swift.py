"""Swift: AIMD of a fractional window on delay against a per-flow target (Kumar et al., SIGCOMM 2020, section 3).

The data plane reflects acknowledgements in the kernel and takes the RTT between the two NIC hooks, so that the delay
at the end points is 0: all of the RTT is fabric delay, and there is no end-point window.

The published times hold for a base RTT of ``reference_rtt``; on another path they scale with its base RTT.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from testbed.base.arrays import Floats, Ints
from testbed.controller import Feedback, Paths, RateController, Signal
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
        default="below_one",
        description="Pace at window per RTT only below one packet (as published), or always; then the window is "
        "rounded up to whole packets.",
    )


class Swift(RateController):
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

    def __init__(self, config: SwiftConfig, paths: Paths) -> None:
        super().__init__(config, paths)
        scale = paths.base_rtt / config.reference_rtt if config.reference_rtt else np.ones(len(paths))
        self.base_target = scale * (config.base_target + paths.hops * config.per_hop)
        # FBS(w) = a / sqrt(w) + b is fs_range at fs_min and 0 at fs_max; both are in units of fs_range here.
        self.fs_range = scale * config.fs_range
        self.a = 1 / (config.fs_min**-0.5 - config.fs_max**-0.5)
        self.b = -self.a * config.fs_max**-0.5
        bdp = paths.bdp / paths.wire_size
        largest = config.max_window or 2 * bdp
        self.max_cwnd = np.maximum(np.broadcast_to(largest, len(paths)), config.min_window)
        self.initial_cwnd = np.clip(config.initial_window or bdp, config.min_window, self.max_cwnd)
        self.cwnd: Floats = self.initial_cwnd.copy()  # packets
        self.rtt: Floats = paths.base_rtt.copy()  # the newest sample
        self.cut_since: Floats = np.full(len(paths), -np.inf)  # time of the last decrease
        self.timeouts: Ints = np.zeros(len(paths), np.int64)  # in a row
        self._publish(np.arange(len(paths)))

    def on_start(self, now: float, flows: Ints) -> None:  # noqa: ARG002 - part of the interface
        self.cwnd[flows] = self.initial_cwnd[flows]
        self.rtt[flows] = self.paths.base_rtt[flows]
        self.cut_since[flows] = -np.inf
        self.timeouts[flows] = 0
        self._publish(flows)

    def target(self, flows: Ints, cwnd: Floats) -> Floats:
        """Target delay in seconds at windows of ``cwnd`` packets (section 3.5)."""
        scaling = np.clip(self.a / np.sqrt(cwnd) + self.b, 0, 1)
        delay: Floats = self.base_target[flows] + self.fs_range[flows] * scaling
        return delay

    def on_feedback(self, now: float, flows: Ints, feedback: Feedback) -> None:
        config, cwnd = self.config, self.cwnd[flows]
        acked = feedback.acked_packets > 0
        rtt = np.where(acked, feedback.rtt, self.rtt[flows])
        self.rtt[flows] = rtt
        target = self.target(flows, cwnd)
        grows = acked & (rtt < target)
        may_cut = now - self.cut_since[flows] >= rtt

        # What the delay asks for (Algorithm 1); a loss or a timeout asks for the largest cut.
        keep = np.maximum(1 - config.beta * (1 - target / rtt), 1 - config.max_cut)
        lost = (feedback.lost_packets > 0) | (feedback.timeouts > 0)
        keep[lost] = 1 - config.max_cut
        cuts = may_cut & (lost | (acked & ~grows))
        growth = grows * config.additive * feedback.acked_packets / np.maximum(cwnd, 1)
        after = np.where(cuts, keep * cwnd, cwnd) + growth * ~lost

        timeouts = np.where(acked | (feedback.lost_packets > 0), 0, self.timeouts[flows]) + feedback.timeouts
        self.timeouts[flows] = timeouts
        after[timeouts >= config.retransmit_reset] = config.min_window
        after = np.clip(after, config.min_window, self.max_cwnd[flows])
        self.cwnd[flows] = after
        # Strictly less: a window that merely did not grow must not put off the next cut.
        self.cut_since[flows[after < cwnd]] = now
        self._publish(flows)

    def _publish(self, flows: Ints) -> None:
        cwnd, wire = self.cwnd[flows], self.paths.wire_size
        line = self.paths.line_rate[flows]
        paced = np.minimum(cwnd * (8 * wire) / self.rtt[flows], line)
        # The window lets one packet through at least: below that the rate alone holds the flow back.
        if self.config.pacing == "always":
            self.rate[flows], self.window[flows] = paced, np.ceil(cwnd) * wire
        else:
            self.rate[flows], self.window[flows] = np.where(cwnd < 1, paced, line), np.maximum(cwnd, 1) * wire
