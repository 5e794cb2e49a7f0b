"""ADPG by trees: the control loop of `controller`, and the policy, per flow."""

from __future__ import annotations

import math
from pathlib import Path as FilePath
from typing import Annotated

from testbed.base.fields import Length
from testbed.controller import Ack, Path

from ..learned.boosted import BoostedController
from .controller import AdpgForm
from .observation import DOWN, FEATURES, HIGHEST_X, LEAST_RATE, PATIENCE, SCALE, STEEPEST, UP, AdpgConfig
from .tree import Trees

POLICIES = FilePath(__file__).with_name("policies")
LEAST, MOST = 1.0 / (1.0 + DOWN), 1.0 + UP  # multipliers


class Adpg(AdpgForm, BoostedController):
    """ADPG, distilled: 20 trees of depth 4 decide in well under a microsecond."""

    name = "adpg"
    shipped = POLICIES / "trees.json"
    config: AdpgConfig
    share: float  # of line rate
    oldest: float = 1.0  # m(k-2), the multiplier before the last one
    newest: float = 1.0  # m(k-1)
    signal: float  # x(k-1)
    fresh: bool = True  # nothing has been decided yet
    idle: int = 0  # RTTs in a row without congestion
    decided_seq: int  # packets from this one on were sent after the last decision
    effect: float = 1.0  # multiplier that was decided and waits for the decision delay
    ready: float = -math.inf  # s: no decision before
    seen: Annotated[list[float], Length(FEATURES)]  # what the trees are asked about

    def __init__(self, config: AdpgConfig, path: Path) -> None:
        super().__init__(config, path)
        self.ask(self.load(config))
        if config.window == "bdp":
            self.window = max(config.beta * path.bdp, path.wire_size)
        self.share = config.start_rate
        self.rate = self.share * path.line_rate

    @classmethod
    def load(cls, config: AdpgConfig) -> Trees:
        return Trees.load(cls.file(config))

    def on_ack(self, ack: Ack) -> None:
        if ack.seq + 1 < self.decided_seq or not math.isfinite(ack.rtt) or ack.now < self.ready:
            return
        x = self.observed(ack.rtt)
        decided = min(max(self.policy(self.signal if not self.fresh else x, x), LEAST), MOST)
        self.oldest, self.newest = self.newest, decided
        self.signal = x
        self.idle = 0 if x > -SCALE * self.config.target else self.idle + 1
        decided *= 1.0 + min(max(self.config.ramp * (self.idle - PATIENCE), 0.0), STEEPEST)
        self.fresh = False
        self.decided_seq = ack.next_seq
        if self.config.decision_delay > 0:
            self.effect = decided
            self.timer = ack.now + self.config.decision_delay
            self.ready = math.inf
        else:
            self.apply(decided)

    def on_timer(self, now: float) -> None:
        """The decision takes effect; the next RTT that counts is one that could see it."""
        self.timer = math.inf
        self.ready = now + self.path.base_rtt
        self.apply(self.effect)

    def observed(self, rtt: float) -> float:
        """x, as `observation.signal`."""
        inflation = 1.0 + (rtt - self.path.base_rtt) / self.config.reference_rtt
        excess = max(inflation - self.config.beta, 0.0)
        return min(SCALE * (excess * math.sqrt(self.share) - self.config.target), HIGHEST_X)

    def policy(self, before: float, x: float) -> float:
        """What the trees make of the features [m(k-2), x(k-1), m(k-1), x(k)]."""
        self.seen[0], self.seen[1], self.seen[2], self.seen[3] = self.oldest, before, self.newest, x
        return self.answer()

    def apply(self, decided: float) -> None:
        """Multiply the rate."""
        self.share = min(max(self.share * decided, LEAST_RATE), 1.0)
        self.rate = self.share * self.path.line_rate
