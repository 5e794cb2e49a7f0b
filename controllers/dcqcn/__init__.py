"""DCQCN's reaction point: rate control by ECN through CNPs (Zhu et al., SIGCOMM 2015, sections 3.1 and 5).

The congestion point (RED) is the switch port, the notification point (CNP pacing) is the receiver's NIC; this is the
sender. Lost packets do not change the rate: the algorithm has no rule for them.

The published rates (increase steps, minimum rate) and the byte counter hold at ``reference_rate``; a flow on another
line gets them in proportion to its line rate. Times are used as published.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from testbed.base.arrays import Floats, Ints
from testbed.controller import Feedback, Firmware, Paths, RateController, Signal
from testbed.plugin import PluginConfig

from . import nic
from .options import DcqcnConfig

RECOVERED = 1 - 1e-6  # share of the line rate from which further increases change nothing


class Dcqcn(RateController):
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

    def __init__(self, config: DcqcnConfig, paths: Paths) -> None:
        super().__init__(config, paths)
        scale = paths.line_rate / config.reference_rate
        self.additive, self.hyper = config.additive * scale, config.hyper * scale
        self.bytes_per_increase = config.byte_counter * scale
        self.min_rate = np.minimum(config.min_rate * scale, paths.line_rate)
        if config.window == "bdp":
            self.window = np.maximum(paths.bdp, paths.wire_size)
        n = len(paths)
        self.target: Floats = paths.line_rate.copy()
        self.alpha: Floats = np.empty(n)
        self.alpha_since: Floats = np.empty(n)  # alpha has decayed up to here; inf before the first CNP
        self.may_cut_at: Floats = np.empty(n)
        self.cut_at: Floats = np.empty(n)  # a CNP waits for the end of its cut period; else inf
        self.increase_at: Floats = np.empty(n)
        self.timer_steps: Ints = np.empty(n, np.int64)
        self.byte_steps: Ints = np.empty(n, np.int64)
        self.sent: Floats = np.empty(n)
        self.on_start(0.0, np.arange(n))

    @classmethod
    def cnp_interval(cls, config: PluginConfig) -> float:
        assert isinstance(config, DcqcnConfig)
        return config.cnp_interval

    @classmethod
    def firmware(cls, config: PluginConfig, line_rate: float) -> Firmware:
        assert isinstance(config, DcqcnConfig)
        return nic.firmware(config, line_rate)

    def on_start(self, now: float, flows: Ints) -> None:  # noqa: ARG002 - nothing runs before the first CNP
        self.rate[flows] = self.target[flows] = self.paths.line_rate[flows]
        self.alpha[flows] = self.config.initial_alpha
        self.alpha_since[flows] = self.cut_at[flows] = self.increase_at[flows] = self.timer[flows] = np.inf
        self.may_cut_at[flows] = -np.inf
        self.timer_steps[flows] = self.byte_steps[flows] = 0
        self.sent[flows] = 0

    def on_feedback(self, now: float, flows: Ints, feedback: Feedback) -> None:
        flows = flows[feedback.cnps > 0]  # several CNPs in one batch are one
        if len(flows) == 0:
            return
        before = self._decayed_alpha(now, flows)
        after = before + self.config.g * (1 - before)
        self.alpha[flows], self.alpha_since[flows] = after, now
        alpha = before if self.config.order == "cut_first" else after
        if self.config.cut_period > 0:
            late = self.may_cut_at[flows] > now
            waiting = flows[late]
            self.cut_at[waiting] = self.may_cut_at[waiting]
            self.timer[waiting] = np.minimum(self.increase_at[waiting], self.cut_at[waiting])
            flows, alpha = flows[~late], alpha[~late]
        self._cut(now, flows, alpha)

    def on_timer(self, now: float, flows: Ints) -> None:
        cutting = self.cut_at[flows] <= now
        if cutting.any():
            cut = flows[cutting]
            self._cut(now, cut, self._decayed_alpha(now, cut))
            flows = flows[~cutting]
        due = flows[self.increase_at[flows] <= now]
        if len(due):
            self.increase_at[due] += self.config.increase_timer  # on the timer's own grid: a late call loses no step
            self._increase(due, self.timer_steps)
        self.timer[flows] = np.minimum(self.increase_at[flows], self.cut_at[flows])

    def on_sent(self, now: float, flows: Ints, sent_bytes: Ints) -> None:  # noqa: ARG002 - part of the interface
        if self.config.byte_counter == 0:
            return
        sent = self.sent[flows] + sent_bytes
        wanted = self.bytes_per_increase[flows]
        full = sent >= wanted
        self.sent[flows] = sent - full * wanted
        if full.any():
            self._increase(flows[full], self.byte_steps)

    def _decayed_alpha(self, now: float, flows: Ints) -> Floats:
        periods = np.floor((now - self.alpha_since[flows]) / self.config.alpha_period + 1e-9)
        decayed: Floats = self.alpha[flows] * (1 - self.config.g) ** np.maximum(periods, 0)
        return decayed

    def _cut(self, now: float, flows: Ints, alpha: Floats) -> None:
        rate = self.rate[flows]
        steps = self.byte_steps[flows]
        if self.config.clamp_target == "increase":
            steps = steps + self.timer_steps[flows]
        clamp = steps > 0 if self.config.clamp_target != "cnp" else True
        self.target[flows] = np.where(clamp, rate, self.target[flows])
        self.rate[flows] = np.maximum(rate * np.maximum(1 - alpha / 2, self.config.min_decrease), self.min_rate[flows])
        self.timer_steps[flows] = self.byte_steps[flows] = 0
        self.sent[flows] = 0
        self.may_cut_at[flows] = now + self.config.cut_period
        self.cut_at[flows] = np.inf
        self.increase_at[flows] = self.timer[flows] = now + self.config.increase_timer

    def _increase(self, flows: Ints, counted: Ints) -> None:
        """One increase, which the timer or the byte counter (whose steps are ``counted``) asks for."""
        timer_steps, byte_steps, first = self.timer_steps[flows], self.byte_steps[flows], self.config.recovery_steps
        # Without a byte counter the timer alone leads through all three phases.
        both = np.minimum(timer_steps, byte_steps) if self.config.byte_counter else timer_steps
        times = both - first if self.config.hyper_growth else 1
        step = np.where(both > first, times * self.hyper[flows], self.additive[flows])
        step[np.maximum(timer_steps, byte_steps) < first] = 0
        line = self.paths.line_rate[flows]
        target = np.minimum(self.target[flows] + step, line)
        rate = (target + self.rate[flows]) / 2
        self.target[flows], self.rate[flows] = target, rate
        counted[flows] += 1
        self.increase_at[flows[rate >= RECOVERED * line]] = np.inf  # until the next cut
