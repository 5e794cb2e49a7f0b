"""DCTCP: a window that is cut, once per window, by the share of marks (Alizadeh et al., SIGCOMM 2010; RFC 8257).

It needs switches that mark as a step (Kmin = Kmax, Pmax 1) above a seventh of a BDP: the tuner's preset `dctcp`
(`tuner.preset=dctcp`: 20 kB per 100 Gbit/s, for base RTTs of 8 us). `secn1` and `secn2` are for DCQCN: they let
several BDPs of queue stand.

Where sources differ:

* The paper's and the RFC's windows leave in bursts. Here they are paced, at window per newest RTT, unless ``paced`` is
  off. In the fluid model bursts of flows in step waste a seventh of the line; with packets the rack shows no such loss.
* The RFC begins with 10 packets and slow start, lets a window grow while it is reduced (CWR), and leaves 2 packets at
  least: preset `rfc8257`. RDMA simulations (HPCC's) begin with a BDP and do not grow in CWR: preset `rdma`.
* Growth is a packet per RTT in both; HPCC's scripts say so as 615 Mbit/s per 13 us, a fork of them has 1000 Mbit/s.
* K: 65 packets at 10 Gbit/s (paper), 30 kB per 10 Gbit/s (HPCC's scripts), more than C x RTT / 7 (the paper's bound).
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

from pydantic import Field

from testbed.controller import Ack, CompiledController, Path, Signal
from testbed.plugin import PluginConfig


class DctcpConfig(PluginConfig):
    """Options of `Dctcp`; windows are counted in full packets."""

    g: float = Field(default=1 / 16, gt=0, le=1, description="Weight of a window's share of marks in alpha.")
    initial_alpha: float = Field(default=1, ge=0, le=1, description="alpha of a new flow.")
    initial_window: float = Field(default=0, ge=0, description="0: one bandwidth-delay product.")
    min_window: float = Field(default=1, ge=1, description="No cut goes below it.")
    max_window: float = Field(default=0, ge=0, description="0: two bandwidth-delay products.")
    additive: float = Field(default=1, gt=0, description="Growth of the window per RTT.")
    slow_start: bool = Field(default=False, description="Double the window per RTT up to the first cut.")
    grow_in_cwr: bool = Field(default=False, description="Grow also in the window after a cut.")
    paced: bool = Field(default=True, description="Pace at window per RTT; else packets leave at line rate.")


class Dctcp(CompiledController):
    """DCTCP: a window that ECN marks cut in proportion to their share; for thresholds of `tuner.preset=dctcp`."""

    name = "dctcp"
    signals = Signal.RTT | Signal.CE
    thresholds = "dctcp"
    Config = DctcpConfig
    presets: ClassVar[dict[str, dict[str, Any]]] = {
        "rdma": {},
        "rfc8257": {"initial_window": 10, "slow_start": True, "grow_in_cwr": True, "min_window": 2},
    }

    config: DctcpConfig
    cwnd: float  # packets
    threshold: float  # ssthresh, packets; 0 without slow start
    max_cwnd: float
    alpha: float
    acked: int  # packets of the present window, and those of them that were marked
    marked: int
    window_end: int  # the first packet of the next window
    cwr_end: int  # the first packet that was sent after the last cut
    rtt: float  # s, the newest sample
    loss_cut: float = -math.inf  # s, time of the last cut for a loss

    def __init__(self, config: DctcpConfig, path: Path) -> None:
        super().__init__(config, path)
        bdp = path.bdp / path.wire_size
        self.max_cwnd = max(config.max_window or 2 * bdp, config.min_window)
        self.threshold = math.inf if config.slow_start else 0.0
        self.alpha = config.initial_alpha
        self.rtt = path.base_rtt
        self.set_cwnd(config.initial_window or bdp)

    def on_ack(self, ack: Ack) -> None:
        self.rtt = ack.rtt
        self.acked += ack.packets
        self.marked += ack.ce_packets
        if ack.seq >= self.window_end:  # before the cut: it is by the share that has caused it
            if self.acked > 0:
                self.alpha += self.config.g * (self.marked / self.acked - self.alpha)
            self.window_end = ack.next_seq
            self.acked = self.marked = 0
        in_cwr = ack.seq < self.cwr_end
        growing = not in_cwr or self.config.grow_in_cwr
        if growing:
            self.grow(ack.packets - ack.ce_packets)
        if ack.ce_packets > 0:
            if not in_cwr:
                self.reduce(self.cwnd * (1 - self.alpha / 2))
                self.cwr_end = ack.next_seq
            elif growing:
                self.grow(ack.ce_packets)
        self.set_cwnd(self.cwnd)  # for the RTT

    def grow(self, packets: int) -> None:
        """What ``packets`` acknowledgements add."""
        slow = self.cwnd < self.threshold
        self.set_cwnd(self.cwnd + (packets if slow else self.config.additive * packets / self.cwnd))

    def on_loss(self, now: float, packets: int) -> None:  # noqa: ARG002 - part of the interface
        if now - self.loss_cut >= self.rtt:
            self.loss_cut = now
            self.reduce(self.cwnd / 2)

    def on_timeout(self, now: float, packets: int) -> None:  # noqa: ARG002 - part of the interface
        self.reduce(self.cwnd / 2)
        self.set_cwnd(self.config.min_window)

    def reduce(self, wanted: float) -> None:
        """A smaller window, from which on growth is additive."""
        self.set_cwnd(wanted)
        if self.config.slow_start:
            self.threshold = self.cwnd

    def set_cwnd(self, wanted: float) -> None:
        """The window, within its bounds, in whole packets; the rate does the rest."""
        self.cwnd = min(max(wanted, self.config.min_window), self.max_cwnd)
        wire, line = self.path.wire_size, self.path.line_rate
        self.window = math.ceil(self.cwnd) * wire
        self.rate = min(self.cwnd * (8 * wire) / self.rtt, line) if self.config.paced else line
