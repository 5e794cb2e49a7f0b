"""ADPG's control loop: one decision per flow and RTT, by a network.

The papers' controller has a rate and no window: many flows that start at line rate into one port lose packets until the
rates have come down, which takes 8 ms for 8 flows. ``window`` or ``start_rate`` avoid it.
"""

from __future__ import annotations

from typing import Any, ClassVar, Protocol

import numpy as np

from testbed.base.arrays import Floats, Ints
from testbed.controller import ControllerBase, Feedback, Paths, Signal
from testbed.learned import LearnedController, Numbers, Observed

from ..learned.policy import ByPolicy
from .observation import (
    FEATURES,
    HIGHEST_X,
    LEAST_RATE,
    SCALE,
    AdpgConfig,
    History,
    limited,
    multiplier,
    no_congestion,
    ramped,
    signal,
)


class Policy(Protocol):
    """A trained policy, loaded."""

    def decide(self, features: Floats) -> Floats:
        """Multipliers, shape (k,), for features of shape (k, 4)."""
        ...


class AdpgForm(ByPolicy, ControllerBase):
    """What all forms of the policy declare."""

    signals = Signal.RTT
    Config = AdpgConfig
    presets: ClassVar[dict[str, dict[str, Any]]] = {
        # As NICs send: without the window, a start of many flows at line rate loses packets for thousands of RTTs.
        "windowed": {"window": "bdp"},
        "paper": {},
        # Ours: a hundred RTTs from 1 % of an idle line to 95 %, not 350.
        "ramp": {"window": "bdp", "ramp": 0.006},
    }


class AdpgController(AdpgForm, LearnedController):
    """The loop for networks: flows in batches. A gym's action is the network's output."""

    config: AdpgConfig
    policy: Policy
    observation = Numbers(FEATURES, -SCALE, HIGHEST_X)  # the aim is 1 at most
    action = Numbers(1, -1.0, 1.0)

    def __init__(self, config: AdpgConfig, paths: Paths) -> None:
        super().__init__(config, paths)
        n = len(paths)
        self.reference = config.reference_rtt or paths.longest_rtt or float(paths.base_rtt.max(initial=0.0))
        self.share: Floats = np.full(n, config.start_rate)  # of line rate
        self.history = History(n)
        self.x: Floats = np.zeros(n)  # newest signal
        self.idle: Ints = np.zeros(n, np.int64)  # RTTs in a row without congestion
        self.next_seq: Ints = np.zeros(n, np.int64)
        self.decided_seq: Ints = np.zeros(n, np.int64)  # packets from this one on were sent after the last decision
        self.effect: Floats = np.ones(n)  # multiplier that was decided and waits for the decision delay
        self.ready: Floats = np.full(n, -np.inf)  # s: no decision before
        if config.window == "bdp":
            self.window = np.maximum(config.beta * paths.bdp, paths.wire_size)
        self._publish(np.arange(n))

    def on_start(self, now: float, flows: Ints) -> None:  # noqa: ARG002 - part of the interface
        self.share[flows] = self.config.start_rate
        self.history.forget(flows)
        self.decided_seq[flows] = self.idle[flows] = 0
        self.effect[flows], self.timer[flows], self.ready[flows] = 1.0, np.inf, -np.inf
        self._publish(flows)

    def observe(self, now: float, flows: Ints, feedback: Feedback) -> Observed:
        answered = feedback.acked_seq + 1 >= self.decided_seq[flows]
        due = np.flatnonzero(answered & np.isfinite(feedback.rtt) & (now >= self.ready[flows]))
        mine = flows[due]
        if not len(due):
            return Observed(mine, np.empty((0, FEATURES)))
        x = signal(feedback.rtt[due], self.paths.base_rtt[mine], self.share[mine], self.config, self.reference)
        self.x[mine] = x
        self.idle[mine] = np.where(x > no_congestion(self.config), 0, self.idle[mine] + 1)
        self.next_seq[mine] = feedback.next_seq[due]
        return Observed(mine, self.history.features(mine, x))

    def reward(self, flows: Ints) -> Floats:
        """``-(x / 12.5)^2``, the papers' reward: the squared distance from the aim (Tessler et al., section 4)."""
        return np.asarray(-((self.x[flows] / SCALE) ** 2))

    def act(self, now: float, flows: Ints, actions: Floats) -> None:
        self._decide(now, flows, multiplier(actions[:, 0]))

    def on_feedback(self, now: float, flows: Ints, feedback: Feedback) -> None:
        due = self.observe(now, flows, feedback)
        if len(due.flows):
            self._decide(now, due.flows, limited(self.policy.decide(due.rows)))

    def _decide(self, now: float, flows: Ints, decided: Floats) -> None:
        self.history.remember(flows, self.x[flows], decided)
        decided = decided * ramped(self.idle[flows], self.config)
        self.decided_seq[flows] = self.next_seq[flows]
        if self.config.decision_delay:
            self.effect[flows] = decided
            self.timer[flows] = now + self.config.decision_delay
            self.ready[flows] = np.inf
        else:
            self._apply(flows, decided)

    def on_timer(self, now: float, flows: Ints) -> None:
        """The decision takes effect; the next RTT that counts is one that could see it."""
        self.timer[flows] = np.inf
        self.ready[flows] = now + self.paths.base_rtt[flows]
        self._apply(flows, self.effect[flows])

    def _apply(self, flows: Ints, decided: Floats) -> None:
        self.share[flows] = np.clip(self.share[flows] * decided, LEAST_RATE, 1.0)
        self._publish(flows)

    def _publish(self, flows: Ints) -> None:
        self.rate[flows] = self.share[flows] * self.paths.line_rate[flows]
