"""SPINE's executor: AIMD on every acknowledgement, by four parameters that change rarely.

After the authors' published kernel module, the only part of SPINE that is public; parameters are in packets of window
per acknowledged packet. Where it is read otherwise here:

* The least RTT is the path's base RTT. The RTT is the newest: Linux's smoothing over 8 packets, nothing in a wide area
  network, is RTTs where a flow has three in flight (32 flows: SU 92 % instead of 99).
* The floor is not ten packets, of which 10 flows are a BDP at 8 us (register 63), but 1/64; and a window below one
  packet is at most halved or doubled by an acknowledgement, which may be the only one in 64 RTTs.
* A flow starts with a BDP, as RDMA flows do, instead of growing by half per RTT until it loses (preset `module`).
* Losses cut once per RTT.

It is not fair: growth and cuts are multiplicative per RTT, so that a flow keeps the share that it came to, and takes
from those whose gamma is lower.
"""

from __future__ import annotations

import math
from typing import Literal

from pydantic import Field

from testbed.controller import Ack, CompiledController, Path, Signal
from testbed.plugin import PluginConfig

UNIT = 1024  # of the module's whole numbers
GROWTH = 500 / UNIT  # packets per acknowledged packet in slow start
MOST_UP, MOST_DOWN = 1.0, 0.5  # packets, of the change for an acknowledged packet; windows, of one below a packet


class ExecutorConfig(PluginConfig):
    """Options of the executor; its parameters are the module's, and the policy generator replaces them."""

    alpha: float = Field(default=50 / UNIT, gt=0, le=1, description="Packets added per acknowledged packet.")
    beta: float = Field(default=200 / UNIT, gt=0, le=1, description="Packets taken off per acknowledged packet.")
    gamma: float = Field(default=2 * 200 / UNIT, gt=0, description="Queueing above which they are, in base RTTs.")
    delta: float = Field(default=717 / UNIT, gt=0, le=1, description="What a loss leaves of the window.")
    law: Literal["threshold", "linear"] = Field(
        default="threshold",
        description="`threshold`, the module's newer one: alpha or -beta; `linear`, its older one: alpha - beta "
        "(queueing - gamma).",
    )
    rtt_gain: float = Field(default=1, gt=0, le=1, description="Weight of a packet's RTT in the smoothed one.")
    slow_start: bool = Field(default=False, description="Grow by half per RTT until the first loss.")
    initial_window: float = Field(default=0, ge=0, description="In packets; 0: one bandwidth-delay product.")
    min_window: float = Field(default=1 / 64, gt=0, description="In packets.")


class Executor(CompiledController):
    """The law; whoever has a policy sets alpha, beta, gamma and delta."""

    signals = Signal.RTT

    config: ExecutorConfig
    cwnd: float  # packets
    alpha: float
    beta: float
    gamma: float
    delta: float
    srtt: float  # s
    slow: bool  # in slow start
    cut: float = -math.inf  # s: when a loss cut last

    def __init__(self, config: ExecutorConfig, path: Path) -> None:
        super().__init__(config, path)
        self.alpha, self.beta, self.gamma, self.delta = config.alpha, config.beta, config.gamma, config.delta
        self.srtt = path.base_rtt
        self.slow = config.slow_start
        self.move(config.initial_window or path.bdp / path.wire_size)

    def on_ack(self, ack: Ack) -> None:
        if ack.packets == 0:
            return
        self.srtt = ack.rtt + math.pow(1.0 - self.config.rtt_gain, ack.packets) * (self.srtt - ack.rtt)
        self.move(self.cwnd + ack.packets * self.change(self.srtt / self.path.base_rtt - 1.0))

    def change(self, queueing: float) -> float:
        """Packets per acknowledged packet; ``queueing`` in base RTTs."""
        if self.slow:
            return GROWTH
        if self.config.law == "linear":
            wanted = self.alpha - self.beta * (queueing - self.gamma)
        elif queueing <= self.gamma:
            wanted = self.alpha
        else:
            wanted = -self.beta
        most = min(self.cwnd, 1.0)
        return min(max(wanted, -MOST_DOWN * most), MOST_UP * most)

    def on_loss(self, now: float, packets: int) -> None:  # noqa: ARG002 - part of the interface
        self.lose(now)

    def on_timeout(self, now: float, packets: int) -> None:  # noqa: ARG002 - part of the interface
        self.lose(now)

    def lose(self, now: float) -> None:
        """Once per RTT."""
        self.slow = False
        if now - self.cut >= self.srtt:
            self.cut = now
            self.move(self.cwnd * self.delta)

    def move(self, wanted: float) -> None:
        """The window, within its bounds, and the rate that follows from it."""
        path, least = self.path, self.config.min_window
        wire = path.wire_size
        most = (1.0 + self.gamma) * path.bdp / wire  # one that only the line rate limits would grow for ever
        self.cwnd = max(min(wanted, most), least)
        self.window = math.ceil(self.cwnd) * wire
        self.rate = min(8 * wire * self.cwnd / self.srtt, path.line_rate)
