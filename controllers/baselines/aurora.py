"""Aurora: a rate that a network makes a little higher or lower at the end of every monitor interval.

Jay et al., "A Deep Reinforcement Learning Perspective on Internet Congestion Control", ICML 2019; numbers of the public
code (PCC-RL, src/gym; facts sheet 4.1). What differs, for RTTs of 8 us: an interval is at least a base RTT and ten
packets long (published: half an RTT); rates are bounded by shares of the line rate (published: 40 to 1000 packets/s);
an interval is of what came back in it, not of what left in it.

The reward is 10 * throughput (packets/s) - 1000 * latency (s) - 2000 * loss. In a rack the first term is 10^8 and the
second 0.01, so that nothing but throughput counts. ``reward: rescaled`` measures throughput in shares of the line
rate and latency in base RTTs, where 1 is what was typical in the published training: 300 packets/s and 0.275 s.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from testbed.base.fields import Length
from testbed.controller import Ack, Path, Signal
from testbed.learned import Numbers
from testbed.units import Ratio

from ..learned.network import Layers
from ..learned.neural import NeuralFlow
from .shipped import BySeed, Shipped

SEEN, HISTORY = 3, 10  # numbers per interval, intervals
FEATURES = SEEN * HISTORY
HIDDEN = (32, 16)
STEP = 0.025  # of the rate, per unit of action
MOST_ACTION = 20.0
LEAST_RATE = 1e-4  # of line rate
FEWEST = 10  # packets in an interval
HALF_RTT = 0.5  # least interval, in mean RTTs
LEAST_SLOPE, MOST_SLOPE, MOST_RATIO = -1.0, 10.0, 100.0
THROUGHPUT, LATENCY, LOSS, SCALE = 10.0, 1000.0, 2000.0, 1e-3
TYPICAL_THROUGHPUT, TYPICAL_LATENCY = 300.0, 0.275  # packets/s, s: the middle of the published training's


class AuroraConfig(Shipped):
    """Options of Aurora."""

    start_rate: Ratio = Field(
        default=0.3, ge=LEAST_RATE, le=1, description="Rate of a new flow, as a share of line rate."
    )
    reward: Literal["published", "rescaled"] = Field(default="published", description="What it is trained by.")


class Aurora(BySeed, NeuralFlow):
    """Aurora: a network that saw one flow at a time moves the rate, by RTT slope, RTT ratio and send ratio."""

    name = "aurora"
    signals = Signal.RTT | Signal.TX
    Config = AuroraConfig
    observation = Numbers(FEATURES, LEAST_SLOPE, MOST_RATIO)
    action = Numbers(1, -MOST_ACTION, MOST_ACTION)
    config: AuroraConfig

    begun: float = -1.0  # s: when this interval began; -1 before the first acknowledgement
    length: float  # s, at least
    least: float  # s, RTT that was seen
    sent: int  # wire bytes in this interval
    acked: int
    packets: int
    lost: int
    early_rtts: float  # s, sum over packets of the first half
    early: int
    rtts: float
    seen: Annotated[list[float], Length(FEATURES)]  # the last ten intervals, oldest first

    def __init__(self, config: AuroraConfig, path: Path) -> None:
        super().__init__(config, path)
        self.ask(self.load(config))
        self.rate = config.start_rate * path.line_rate
        self.length = self.least = path.base_rtt
        self.seen = [0.0, 1.0, 1.0] * HISTORY

    @classmethod
    def load(cls, config: AuroraConfig) -> Layers:
        return Layers.load(cls.file(config), (FEATURES, *HIDDEN, 1))

    def on_sent(self, now: float, sent_bytes: int) -> None:  # noqa: ARG002 - part of the interface
        self.sent += sent_bytes

    def on_loss(self, now: float, packets: int) -> None:  # noqa: ARG002
        self.lost += packets

    def on_ack(self, ack: Ack) -> None:
        if self.begun < 0:
            self.begin(ack.now)
            return
        if ack.packets == 0:
            return
        self.packets += ack.packets
        self.acked += ack.bytes
        self.rtts += ack.packets * ack.rtt
        self.least = min(self.least, ack.rtt)
        if ack.now < self.begun + self.length / 2:
            self.early += ack.packets
            self.early_rtts += ack.packets * ack.rtt
        if ack.now >= self.begun + self.length and self.packets >= FEWEST:
            self.observe(ack.now - self.begun)
            self.decide(ack.now, 0.0)

    def observe(self, length: float) -> None:
        """The interval, as the newest of the ten, and its reward."""
        rtt, late, slope = self.rtts / self.packets, self.packets - self.early, 0.0
        if self.early > 0 and late > 0:
            slope = ((self.rtts - self.early_rtts) / late - self.early_rtts / self.early) / length
        newest = FEATURES - SEEN
        self.seen[newest] = min(max(slope, LEAST_SLOPE), MOST_SLOPE)
        self.seen[newest + 1] = min(rtt / self.least, MOST_RATIO)
        self.seen[newest + 2] = min(self.sent / self.acked, MOST_RATIO)
        throughput, latency, loss = self.packets / length, rtt, self.lost / (self.packets + self.lost)
        if self.config.reward == "rescaled":
            throughput = TYPICAL_THROUGHPUT * 8 * self.acked / length / self.path.line_rate
            latency = TYPICAL_LATENCY * rtt / self.path.base_rtt
        self.gained = SCALE * (THROUGHPUT * throughput - LATENCY * latency - LOSS * loss)

    def act(self, now: float) -> None:
        """Move the rate; the interval joins the history."""
        self.length = max(self.path.base_rtt, HALF_RTT * self.rtts / self.packets)
        for old in range(FEATURES - SEEN):
            self.seen[old] = self.seen[old + SEEN]
        step = 1.0 + STEP * abs(self.wanted)
        wanted = self.rate * step if self.wanted >= 0 else self.rate / step
        self.rate = min(max(wanted, LEAST_RATE * self.path.line_rate), self.path.line_rate)
        self.begin(now)

    def policy(self) -> float:
        self.answer()
        return min(max(self.values[0], -MOST_ACTION), MOST_ACTION)

    def begin(self, now: float) -> None:
        """An interval."""
        self.begun = now
        self.sent = 0
        self.acked = 0
        self.packets = 0
        self.lost = 0
        self.early = 0
        self.early_rtts, self.rtts = 0.0, 0.0
