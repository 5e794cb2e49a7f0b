"""ADPG's control loop per flow, compiled: what `controller` does for batches. Other policies use it, too."""

from __future__ import annotations

import math
from typing import Annotated, ClassVar

from testbed.base.fields import Length
from testbed.controller import Ack, Path
from testbed.learned import LearnedFlow, Numbers

from .controller import AdpgForm
from .observation import DOWN, FEATURES, HIGHEST_X, LEAST_RATE, PATIENCE, SCALE, STEEPEST, UP, AdpgConfig

LEAST, MOST = 1.0 / (1.0 + DOWN), 1.0 + UP  # multipliers


class AdpgFlow(AdpgForm, LearnedFlow):
    """A decision per RTT. The action is the multiplier; the reward the papers', as of `AdpgController`."""

    observation = Numbers(FEATURES, -SCALE, HIGHEST_X)
    action: ClassVar[Numbers] = Numbers(1, LEAST, MOST)
    config: AdpgConfig
    share: float  # of line rate
    reference: float  # s, T_ref
    decided_seq: int  # packets from this one on were sent after the last decision
    next_seq: int
    fresh: bool = True  # nothing has been decided yet
    congested: bool  # in the RTT that is over
    idle: int  # RTTs in a row without congestion
    ready: float = -math.inf  # s: no decision before
    seen: Annotated[list[float], Length(FEATURES)]  # [m(k-2), x(k-1), m(k-1), x(k)]

    def __init__(self, config: AdpgConfig, path: Path) -> None:
        super().__init__(config, path)
        if config.window == "bdp":
            self.window = max(max(config.beta, 1.0) * path.bdp, path.wire_size)
        self.seen = [1.0, 0.0, 1.0, 0.0]
        self.reference = config.reference_rtt or path.longest_rtt
        self.share = config.start_rate
        self.rate = self.share * path.line_rate

    def on_ack(self, ack: Ack) -> None:
        if ack.seq + 1 < self.decided_seq or not math.isfinite(ack.rtt) or ack.now < self.ready:
            return
        x = self.observed(ack.rtt)
        self.seen[3] = x
        if self.fresh:
            self.seen[1] = x
        self.congested = x > -SCALE * self.config.target
        self.gained = -((x / SCALE) ** 2)
        self.next_seq = ack.next_seq
        if self.config.decision_delay > 0:
            self.ready = math.inf
        self.decide(ack.now, self.config.decision_delay)

    def act(self, now: float) -> None:
        """Multiply the rate. The next RTT that counts is one that could see it."""
        self.seen[0], self.seen[1], self.seen[2] = self.seen[2], self.seen[3], self.wanted
        self.fresh = False
        self.decided_seq = self.next_seq
        if self.config.decision_delay > 0:
            self.ready = now + self.path.base_rtt
        self.idle = 0 if self.congested else self.idle + 1
        decided = self.wanted * (1.0 + min(max(self.config.ramp * (self.idle - PATIENCE), 0.0), STEEPEST))
        self.share = min(max(self.share * decided, LEAST_RATE), 1.0)
        self.rate = self.share * self.path.line_rate

    def observed(self, rtt: float) -> float:
        """x, as `observation.signal`."""
        inflation = 1.0 + (rtt - self.path.base_rtt) / self.reference
        excess = max(inflation - self.config.beta, 0.0)
        return min(SCALE * (excess * math.sqrt(self.share) - self.config.target), HIGHEST_X)
