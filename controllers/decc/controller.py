"""DECC's control loop: five numbers per monitoring period, and a policy that moves the window.

A period is an RTT (the paper does not say): it ends with the first acknowledged packet that left after it began. With
periods of a base RTT, flows that meet a full buffer would decide dozens of times before they see what came of it. It is
staggered by up to a quarter of an RTT, each time another part: flows of one or two packets per RTT otherwise decide in
step with their packets and with the queue, and some of 64 then kept a fifth more than the others. RTT, losses and
acknowledged bytes are all that decides: the switches' SACK of the paper feeds the critic, in training.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from pathlib import Path as FilePath
from typing import Annotated

from pydantic import Field

from testbed.base.fields import Length
from testbed.controller import Ack, CompiledController, Path, Signal
from testbed.plugin import PluginConfig
from testbed.units import Time

from ..learned.policy import ByPolicy
from .observation import FEATURES, MOST_ACTION, MOST_WINDOW, SEEN, decades, delay, factor

LEAST_WINDOW = 1 / 64  # packets: 8192 flows share a link of one BDP
STAGGER = 0.25  # RTTs that a period is longer, at most
GOLDEN = (math.sqrt(5) - 1) / 2  # its multiples, modulo 1, fall evenly and never where they were
POLICIES = FilePath(__file__).with_name("policies")


class DeccConfig(PluginConfig):
    """Options of all forms of DECC."""

    decision_delay: Time = Field(
        default=0.0, ge=0, description="Between a period and what it decides, on a slow processor."
    )
    policy: str = Field(default="", description="File with another policy of this form.")
    initial_window: float = Field(default=0, ge=0, description="In packets; 0: one bandwidth-delay product.")


class DeccForm(ByPolicy, CompiledController):
    """The loop; a form brings the `policy`."""

    signals = Signal.RTT
    Config = DeccConfig

    config: DeccConfig
    cwnd: float  # bytes
    rtt_average: float  # s
    begun: float = -1.0  # s: when this period began; -1 before the first acknowledgement
    until: float  # s: what left from then on ends it
    turn: float  # how much of the stagger this period has, from 0 to 1
    acked: float  # wire bytes in this period
    packets: int
    rtts: float  # s, sum over the packets
    lost: int  # packets
    fresh: bool = True  # nothing has been decided yet
    seen: Annotated[list[float], Length(FEATURES)]  # the last five periods, oldest first
    halved: float = -math.inf  # s: for a timeout
    action: float  # decided, and waits for the decision delay

    def __init__(self, config: DeccConfig, path: Path) -> None:
        super().__init__(config, path)
        self.rtt_average = path.base_rtt
        self.move(config.initial_window * path.wire_size or path.bdp)

    @abstractmethod
    def policy(self) -> float:
        """The action for ``self.seen``, from -0.5 to 0.5."""

    def on_ack(self, ack: Ack) -> None:
        if self.begun < 0:  # what came before it is no whole period
            self.begin(ack.now)
            return
        if ack.packets == 0 or self.timer < math.inf:  # part of a packet, or a decision is being made
            return
        self.packets += ack.packets
        self.acked += ack.bytes
        self.rtts += ack.packets * ack.rtt
        if ack.now - ack.rtt < self.until:
            return
        self.observe(ack.now - self.begun)
        action = min(max(self.policy(), -MOST_ACTION), MOST_ACTION)
        if self.config.decision_delay > 0:
            self.action = action
            self.timer = ack.now + self.config.decision_delay
        else:
            self.move(self.cwnd * factor(action))
            self.begin(ack.now)

    def on_timer(self, now: float) -> None:
        """The decision takes effect."""
        self.timer = math.inf
        self.move(self.cwnd * factor(self.action))
        self.begin(now)

    def on_loss(self, now: float, packets: int) -> None:  # noqa: ARG002 - part of the interface
        self.lost += packets

    def on_timeout(self, now: float, packets: int) -> None:  # noqa: ARG002 - part of the interface
        """The paper has no rule: half, once per RTT."""
        if now - self.halved >= self.rtt_average:
            self.halved = now
            self.move(self.cwnd / 2)

    def begin(self, now: float) -> None:
        """A period."""
        self.begun = now
        self.turn = (self.turn + GOLDEN) % 1.0
        self.until = now + STAGGER * self.turn * self.rtt_average
        self.acked, self.rtts = 0.0, 0.0
        self.packets = 0
        self.lost = 0

    def observe(self, length: float) -> None:
        """The period that is over becomes the newest of the five."""
        path, rtt = self.path, self.rtts / self.packets
        self.rtt_average += (rtt - self.rtt_average) / 2
        for old in range(FEATURES - SEEN):
            self.seen[old] = self.seen[old + SEEN]
        newest = FEATURES - SEEN
        self.seen[newest] = decades(8 * self.acked / length / path.line_rate)
        self.seen[newest + 1] = delay(rtt / path.base_rtt)
        self.seen[newest + 2] = min(self.lost / self.packets, 1.0)
        self.seen[newest + 3] = decades(self.cwnd / path.bdp)
        self.seen[newest + 4] = decades(self.rate / path.line_rate)
        if self.fresh:
            self.fresh = False
            for old in range(newest):
                self.seen[old] = self.seen[newest + old % SEEN]

    def move(self, wanted: float) -> None:
        """The window, within its bounds, and the rate that follows from it."""
        path = self.path
        self.cwnd = min(max(wanted, LEAST_WINDOW * path.wire_size), MOST_WINDOW * path.bdp)
        self.rate = min(8 * self.cwnd / self.rtt_average, path.line_rate)
        self.window = math.ceil(self.cwnd / path.wire_size) * path.wire_size
