"""Monitor intervals: rates are tried out one after the other, and each gets a utility from what came back of it.

Packets have numbers, so an interval is a range of them; its feedback comes an RTT later. Rates are changed when an
acknowledgement arrives, which needs no timer.
"""

from __future__ import annotations

import math
from typing import Annotated

from testbed.base.fields import Length
from testbed.controller import Ack, CompiledController, Path

from .options import VivaceConfig

FULL = 1000.0  # the line rate here: rates are Mbit/s of a line of 1 Gbit/s, for which b = 900 is given
MOST = 4  # intervals of a round
LEAST_PACKETS = 10  # of an interval, which takes one RTT otherwise


class MonitorIntervals(CompiledController):
    """Rounds of up to four intervals."""

    Config = VivaceConfig

    config: VivaceConfig
    base: float  # the rate when nothing is tried out
    planned: int = -1  # intervals of this round; -1 before the first
    sent: int  # of them
    heard: int
    tried: Annotated[list[float], Length(MOST)]
    utility: Annotated[list[float], Length(MOST)]
    first: Annotated[list[float], Length(MOST + 1)]  # number of an interval's first packet
    until: float  # s, end of the interval that is sent
    acked: float  # packets of the interval that is heard, samples of their RTT, and sums over these
    samples: float
    sum_t: float  # s, time of sending since the round began
    sum_r: float  # s, RTT without the base RTT
    sum_tt: float
    sum_tr: float
    began: float  # s

    def __init__(self, config: VivaceConfig, path: Path) -> None:
        super().__init__(config, path)
        self.base = config.start_rate * FULL
        self.send_at(self.base)

    def begin(self, ack: Ack, planned: int) -> None:
        """Send the first of ``planned`` intervals; their rates are in ``tried``."""
        self.planned = planned
        self.sent = 0
        self.heard = 0
        self.first[0] = ack.next_seq
        self.began = ack.now
        self.clear()
        self.begin_interval(ack)

    def begin_interval(self, ack: Ack) -> None:
        """The next one's rate, or the flow's own after the last."""
        self.send_at(self.tried[self.sent] if self.sent < self.planned else self.base)
        self.until = ack.now + ack.rtt

    def send_at(self, rate: float) -> None:
        self.rate = min(rate / FULL, 1.0) * self.path.line_rate

    def take(self, ack: Ack) -> bool:
        """Take in an acknowledgement: is this round's feedback complete?"""
        while self.heard < self.sent and ack.seq >= self.first[self.heard + 1]:
            self.judge()
        if self.heard < self.planned and ack.seq >= self.first[self.heard]:
            self.sample(ack)
        if self.sent < self.planned and ack.now >= self.until and ack.next_seq - self.first[self.sent] >= LEAST_PACKETS:
            self.sent += 1
            self.first[self.sent] = ack.next_seq
            self.begin_interval(ack)
        return self.heard == self.planned

    def sample(self, ack: Ack) -> None:
        t, r = ack.now - ack.rtt - self.began, ack.rtt - self.path.base_rtt
        self.acked += ack.packets
        self.samples += 1
        self.sum_t += t
        self.sum_r += r
        self.sum_tt += t * t
        self.sum_tr += t * r

    def clear(self) -> None:
        self.acked = self.samples = self.sum_t = self.sum_r = self.sum_tt = self.sum_tr = 0.0

    def judge(self) -> None:
        """The utility of the interval that is heard: its last packet is acknowledged, or a later one."""
        config, i = self.config, self.heard
        spread = self.samples * self.sum_tt - self.sum_t * self.sum_t
        growth = 0.0  # of the RTT, the slope of a line through the samples
        if spread > 0:
            growth = (self.samples * self.sum_tr - self.sum_t * self.sum_r) / spread
        if growth < config.least_growth:
            growth = 0.0
        lost = max(1 - self.acked / (self.first[i + 1] - self.first[i]), 0.0)
        x = self.tried[i]
        self.utility[i] = math.pow(x, config.exponent) - x * (config.latency * growth + config.loss * lost)
        self.heard += 1
        self.clear()
