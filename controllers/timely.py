"""TIMELY: a rate by the gradient of RTTs (Mittal et al., SIGCOMM 2015; patch: Zhu et al., CoNEXT 2016).

The original law has no fixed point: shares depend on how flows started, and stay unequal. In the patched law, the
default, the decrease weighs the queue itself, so that N flows share equally at a queue of

    q* = q_low (1 + N delta / (beta C))

Its analysis is of queueing delay, so thresholds are of RTT less base RTT here, in both laws, and in base RTTs. Where
sources differ:

* Both papers have thresholds of 50 and 500 us for RTTs of 20 us: 2.5 and 25 base RTTs. Here they are 1 and 10.
* beta is 0.8 in the paper and 0.008 in the patch: by preset. Only eRPC's code bounds a cut, to a half; so here.
* The weight of a new gradient is 0.875 in the papers, 0.02 in eRPC.
* A segment of 16 to 64 kB gives one RTT (paper). A flow decides once per segment here, and at most once per base RTT.
* A new flow gets 1/(n + 1) of the line on a host with n others (paper). Here it gets ``start_rate``: the patched law
  takes back only slowly what an incast at line rate has put into the queue.

Losses halve the rate, at most once per RTT: the papers have no rule.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar, Literal

from pydantic import Field

from testbed.controller import Ack, CompiledController, Path, Signal
from testbed.plugin import PluginConfig
from testbed.units import Rate, Ratio, Size

HYPER_AFTER = 5  # increases in a row from which on they are this many times delta


class TimelyConfig(PluginConfig):
    """Options of `Timely`; the defaults are those of the patched law."""

    law: Literal["patched", "original"] = Field(default="patched", description="Between the thresholds.")
    reference_rate: Rate = Field(default=10e9, gt=0, description="Line rate for which delta is given.")
    delta: Rate = Field(default=10e6, gt=0, description="Additive increase.")
    beta: float = Field(default=0.008, gt=0, le=1, description="Multiplicative decrease.")
    low: float = Field(default=1, gt=0, description="T_low: queueing delay below which rates increase, in base RTTs.")
    high: float = Field(default=10, gt=0, description="T_high: queueing delay above which they decrease, in base RTTs.")
    ewma: float = Field(default=0.875, gt=0, le=1, description="Weight of a new difference of RTTs.")
    segment: Size = Field(default=16e3, ge=0, description="Bytes sent per decision; 0: one decision per base RTT.")
    max_cut: Ratio = Field(default=0.5, gt=0, lt=1, description="Most that one decision takes off.")
    start_rate: Ratio = Field(default=1, gt=0, le=1, description="Rate of a new flow, as a share of line rate.")
    min_rate: Rate = Field(default=1e6, gt=0, description="No cut goes below it.")


class Timely(CompiledController):
    """TIMELY: a rate that follows the RTT's gradient."""

    name = "timely"
    signals = Signal.RTT
    Config = TimelyConfig
    presets: ClassVar[dict[str, dict[str, Any]]] = {
        "patched": {},
        "original": {"law": "original", "beta": 0.8},
    }

    config: TimelyConfig
    delta: float  # bit/s, at this flow's line rate
    low: float  # s
    high: float  # s
    difference: float  # s per decision, smoothed
    last_rtt: float  # s, 0 before the first
    decide_at: float = -math.inf
    rises: int  # increases in a row, between the thresholds
    cut_at: float = -math.inf  # s, time of the last cut for a loss

    def __init__(self, config: TimelyConfig, path: Path) -> None:
        super().__init__(config, path)
        self.delta = config.delta * path.line_rate / config.reference_rate
        self.low, self.high = config.low * path.base_rtt, config.high * path.base_rtt
        self.set_rate(config.start_rate * path.line_rate)

    def on_ack(self, ack: Ack) -> None:
        if ack.now < self.decide_at:
            return
        if self.last_rtt > 0:
            self.difference += self.config.ewma * (ack.rtt - self.last_rtt - self.difference)
        self.last_rtt = ack.rtt
        self.decide(ack.rtt - self.path.base_rtt, self.difference / self.path.base_rtt)
        self.decide_at = ack.now + max(8 * self.config.segment / self.rate, self.path.base_rtt)

    def decide(self, queueing: float, gradient: float) -> None:
        """One step of the rate: ``queueing`` in seconds, ``gradient`` in base RTTs per decision."""
        beta = self.config.beta
        if queueing < self.low:
            self.set_rate(self.rate + self.delta)
        elif queueing > self.high:
            self.cut(beta * (1 - self.high / queueing))
        elif self.config.law == "patched":
            weight = min(max(2 * gradient + 0.5, 0.0), 1.0)
            share = min(beta * weight * (queueing - self.low) / self.low, self.config.max_cut)
            self.set_rate(self.delta * (1 - weight) + self.rate * (1 - share))
        elif gradient <= 0:
            self.rises += 1
            self.set_rate(self.rate + self.delta * (HYPER_AFTER if self.rises >= HYPER_AFTER else 1))
        else:
            self.cut(beta * gradient)

    def cut(self, share: float) -> None:
        self.rises = 0
        self.set_rate(self.rate * (1 - min(share, self.config.max_cut)))

    def on_loss(self, now: float, packets: int) -> None:  # noqa: ARG002 - part of the interface
        self.halve(now)

    def on_timeout(self, now: float, packets: int) -> None:  # noqa: ARG002 - part of the interface
        self.halve(now)

    def halve(self, now: float) -> None:
        if now - self.cut_at >= max(self.last_rtt, self.path.base_rtt):
            self.cut_at = now
            self.rises = 0
            self.set_rate(self.rate / 2)

    def set_rate(self, wanted: float) -> None:
        line = self.path.line_rate
        self.rate = min(max(wanted, self.config.min_rate), line)
