"""DCQCN's reaction point: rate control by ECN through CNPs (Zhu et al., SIGCOMM 2015, sections 3.1 and 5).

The congestion point (RED) is the switch port, the notification point (CNP pacing) is the receiver's NIC; this is the
sender. Lost packets do not change the rate: the algorithm has no rule for them.

The published rates (increase steps, minimum rate) and the byte counter hold at ``reference_rate``; a flow on another
line gets them in proportion to its line rate. Times are used as published.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

from testbed.controller import CompiledController, Firmware, Path, Signal
from testbed.plugin import PluginConfig

from . import nic
from .options import DcqcnConfig

RECOVERED = 1 - 1e-6  # share of the line rate from which further increases change nothing


class Dcqcn(CompiledController):
    """DCQCN's reaction point: ECN marks cut the rate, a timer and a byte counter raise it."""

    name = "dcqcn"
    signals = Signal.CNP | Signal.TX
    Config = DcqcnConfig
    presets: ClassVar[dict[str, dict[str, Any]]] = {
        "paper": {},
        # NVIDIA's defaults, with alpha before the cut and no byte counter as in HPCC's ns-3 model of that NIC: the
        # unit of the NIC's byte counter differs between its documents.
        "nic": {
            "reference_rate": "25 Gbit/s", "g": 5 / 1024, "initial_alpha": 1023 / 1024, "alpha_period": "1 us",
            "cnp_interval": "4 us", "cut_period": "4 us", "min_decrease": "50 %", "order": "alpha_first",
            "clamp_target": "increase", "increase_timer": "300 us", "byte_counter": 0, "recovery_steps": 1,
            "additive": "5 Mbit/s", "hyper": "50 Mbit/s", "hyper_growth": False, "min_rate": "1 Mbit/s",
        },
    }  # fmt: skip

    config: DcqcnConfig
    target: float  # R_T, bit/s
    alpha: float
    alpha_since: float = math.inf  # s, alpha has decayed up to here; inf before the first CNP
    may_cut_at: float = -math.inf
    cut_at: float = math.inf  # s, a CNP waits for the end of its cut period; else inf
    increase_at: float = math.inf
    timer_steps: int  # increases by the timer, and by the byte counter, since the last cut
    byte_steps: int
    sent: float  # bytes since the last increase by the byte counter
    additive: float  # options at this flow's line rate
    hyper: float
    bytes_per_increase: float
    min_rate: float

    def __init__(self, config: DcqcnConfig, path: Path) -> None:
        super().__init__(config, path)
        scale = path.line_rate / config.reference_rate
        self.additive, self.hyper = config.additive * scale, config.hyper * scale
        self.bytes_per_increase = config.byte_counter * scale
        self.min_rate = min(config.min_rate * scale, path.line_rate)
        self.target, self.alpha = path.line_rate, config.initial_alpha
        if config.window == "bdp":
            self.window = max(path.bdp, path.wire_size)

    @classmethod
    def cnp_interval(cls, config: PluginConfig) -> float:
        assert isinstance(config, DcqcnConfig)
        return config.cnp_interval

    @classmethod
    def firmware(cls, config: PluginConfig, line_rate: float) -> Firmware:
        assert isinstance(config, DcqcnConfig)
        return nic.firmware(config, line_rate)

    def on_cnp(self, now: float) -> None:
        before = self.decayed_alpha(now)
        self.alpha = before + self.config.g * (1 - before)
        self.alpha_since = now
        if self.config.cut_period > 0 and self.may_cut_at > now:
            self.cut_at = self.may_cut_at
            self.timer = min(self.increase_at, self.cut_at)
        else:
            self.cut(now, before if self.config.order == "cut_first" else self.alpha)

    def on_timer(self, now: float) -> None:
        if self.cut_at <= now:
            self.cut(now, self.decayed_alpha(now))
        elif self.increase_at <= now:
            self.increase_at += self.config.increase_timer  # on the timer's own grid: a late call loses no step
            self.increase()
            self.timer_steps += 1
        self.timer = min(self.increase_at, self.cut_at)

    def on_sent(self, now: float, sent_bytes: int) -> None:  # noqa: ARG002 - part of the interface
        if self.config.byte_counter == 0:
            return
        self.sent += sent_bytes
        if self.sent >= self.bytes_per_increase:
            self.sent -= self.bytes_per_increase
            self.increase()
            self.byte_steps += 1

    def decayed_alpha(self, now: float) -> float:
        """alpha decays once per period without a CNP; nothing runs before the first."""
        if self.alpha_since == math.inf:
            return self.alpha
        periods = math.floor((now - self.alpha_since) / self.config.alpha_period + 1e-9)
        return self.alpha * math.pow(1 - self.config.g, max(periods, 0))

    def cut(self, now: float, alpha: float) -> None:
        """Cut the rate by ``alpha`` / 2."""
        steps = self.byte_steps
        if self.config.clamp_target == "increase":
            steps += self.timer_steps
        if self.config.clamp_target == "cnp" or steps > 0:
            self.target = self.rate
        self.rate = max(self.rate * max(1 - alpha / 2, self.config.min_decrease), self.min_rate)
        self.timer_steps = self.byte_steps = 0
        self.sent = 0.0
        self.may_cut_at = now + self.config.cut_period
        self.cut_at = math.inf
        self.increase_at = self.timer = now + self.config.increase_timer

    def increase(self) -> None:
        """One increase, which the timer or the byte counter asks for."""
        first = self.config.recovery_steps
        # Without a byte counter the timer alone leads through all three phases.
        both = min(self.timer_steps, self.byte_steps) if self.config.byte_counter else self.timer_steps
        step = 0.0
        if both > first:
            step = (both - first if self.config.hyper_growth else 1) * self.hyper
        elif max(self.timer_steps, self.byte_steps) >= first:
            step = self.additive
        line = self.path.line_rate
        self.target = min(self.target + step, line)
        self.rate = (self.target + self.rate) / 2
        if self.rate >= RECOVERED * line:
            self.increase_at = math.inf  # until the next cut
