"""Bolt (Arslan et al., NSDI 2023): switches tell senders of queues in less than an RTT, and hand out what others leave.

Constants are those of the published simulator; `docs/explanation/bolt.md` says where paper and simulator differ.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

from pydantic import Field

from testbed.controller import Ack, CompiledController, Path, Signal
from testbed.plugin import PluginConfig


class BoltConfig(PluginConfig):
    """Windows and queues in full packets."""

    src_threshold: float = Field(default=2, ge=1, description="CC_THRESH: queue from which on ports send SRCs.")
    target_queue: float = Field(default=0, ge=0, description="Queue that senders leave standing; the paper has none.")
    additive: float = Field(default=1, ge=0, description="Growth of the window per RTT.")
    min_window: float = Field(default=1 / 64, gt=0, description="No decrease goes below it.")
    max_window: float = Field(default=0, ge=0, description="0: one bandwidth-delay product.")
    initial_window: float = Field(default=0, ge=0, description="0: one bandwidth-delay product.")


class Bolt(CompiledController):
    """Bolt: one packet less per notice from a switch, one more per RTT and per packet that was granted it."""

    name = "bolt"
    signals = Signal.RTT | Signal.SRC
    Config = BoltConfig
    presets: ClassVar[dict[str, dict[str, Any]]] = {"paper": {}, "ns3": {"target_queue": 2}}

    config: BoltConfig
    cwnd: float  # packets
    max_cwnd: float
    rtt: float  # s, the newest sample
    decreased: float = -math.inf  # s, the last decrease by an SRC
    halved: float = -math.inf  # s, the last decrease by a loss
    grows_at: int  # packet number whose acknowledgement ends the RTT

    def __init__(self, config: BoltConfig, path: Path) -> None:
        super().__init__(config, path)
        bdp = path.bdp / path.wire_size
        self.max_cwnd = max(config.max_window or bdp, config.min_window)
        self.rtt = path.base_rtt
        self.set_cwnd(config.initial_window or bdp)

    @classmethod
    def src_threshold(cls, config: PluginConfig) -> float:
        assert isinstance(config, BoltConfig)
        return config.src_threshold

    def on_src(self, now: float, age: float, queue: float, rate: float) -> None:
        """Section 3.1: in one ``age`` all senders together take the queue off, each in proportion to its rate."""
        if self.cwnd <= 1:
            self.set_cwnd(self.cwnd / 2)
            return
        wire = self.path.wire_size
        share = min(self.cwnd * (8 * wire) / self.rtt / rate, 1.0)
        excess = queue / wire - self.config.target_queue
        if excess > 0 and (now - self.decreased) * excess * share >= age:
            self.decreased = now
            self.set_cwnd(self.cwnd - 1)

    def on_ack(self, ack: Ack) -> None:
        """Sections 3.2 and 3.3: what switches have granted, and one packet per RTT."""
        self.rtt = ack.rtt
        cwnd = self.cwnd + ack.inc_packets
        if ack.seq >= self.grows_at:
            self.grows_at = ack.next_seq
            cwnd += self.config.additive
        self.set_cwnd(cwnd)

    def on_loss(self, now: float, packets: int) -> None:  # noqa: ARG002 - part of the interface
        self.halve(now)

    def on_timeout(self, now: float, packets: int) -> None:  # noqa: ARG002 - part of the interface
        self.halve(now)

    def halve(self, now: float) -> None:
        """What a loss asks for, once per RTT."""
        if now - self.halved >= self.rtt:
            self.halved = now
            self.set_cwnd(self.cwnd / 2)

    def set_cwnd(self, wanted: float) -> None:
        """The window, within its bounds, and what follows from it: whole packets, paced."""
        wire = self.path.wire_size
        self.cwnd = min(max(wanted, self.config.min_window), self.max_cwnd)
        self.window = math.ceil(self.cwnd) * wire
        self.rate = min(self.cwnd * (8 * wire) / self.rtt, self.path.line_rate)
