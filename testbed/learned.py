"""What the author of a controller declares whose policy is learned: observation, action and reward.

A `LearnedController` is a `RateController` whose decisions come from a policy that maps rows of observations to rows of
actions; a `LearnedFlow` is the same per flow, compiled. `testbed.sdk.gym` runs either class without its policy: then
whoever trains decides.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from testbed.base.arrays import Floats, Ints
from testbed.controller import CompiledController, Feedback, Paths, RateController
from testbed.plugin import PluginConfig


@dataclass(frozen=True)
class Numbers:
    """``size`` numbers per flow, each from ``low`` to ``high``."""

    size: int
    low: float
    high: float


class Observed(NamedTuple):
    """Of the flows whose interval is over: their numbers, shape (k,), and a row for each, shape (k, size)."""

    flows: Ints
    rows: Floats


class LearnedController(RateController):
    """Decides once per monitor interval of a flow, which `observe` ends and `act` begins.

    Between the two there is no time in the rack. In a gym there may be: `observe` is then called again with what came
    back meanwhile, so it must not forget anything of the interval; `act` does.
    """

    observation: ClassVar[Numbers]
    action: ClassVar[Numbers]

    def __init__(self, config: PluginConfig, paths: Paths) -> None:
        super().__init__(config, paths)
        self.policy = self.load(config)

    @classmethod
    @abstractmethod
    def load(cls, config: Any) -> Any:
        """The policy: ``decide(rows)`` gives actions, shape (k, size). Not called in a gym. Raises BadInput."""

    @abstractmethod
    def observe(self, now: float, flows: Ints, feedback: Feedback) -> Observed:
        """Take in the feedback, as in `on_feedback`."""

    @abstractmethod
    def reward(self, flows: Ints) -> Floats:
        """Of the intervals that ended with the newest observations of ``flows``, shape (k,)."""

    @abstractmethod
    def act(self, now: float, flows: Ints, actions: Floats) -> None:
        """Set rate and window by the actions, shape (k, size); a new interval begins."""

    def on_feedback(self, now: float, flows: Ints, feedback: Feedback) -> None:
        due = self.observe(now, flows, feedback)
        if len(due.flows):
            self.act(now, due.flows, self.policy.decide(due.rows))


class LearnedFlow(CompiledController):
    """Decides when a monitor interval is over: its ``on_ack`` then sets ``seen`` and ``gained``, and calls `decide`.

    A class declares ``seen: Annotated[list[float], Length(observation.size)]``. In a gym there may be time between
    `decide` and `act`: what came back meanwhile belongs to the same interval, which may be observed again. Its timer
    belongs to `act`.
    """

    observation: ClassVar[Numbers]
    action: ClassVar[Numbers]  # a single one

    wanted: float  # the action
    gained: float  # the reward of the interval that is over
    trained: bool  # a gym acts, not the policy
    due: bool  # the gym has not acted yet
    if TYPE_CHECKING:
        seen: list[float]

    @abstractmethod
    def policy(self) -> float:
        """The action for ``self.seen``."""

    @abstractmethod
    def act(self, now: float) -> None:
        """Do what is ``wanted``; a new interval begins."""

    def decide(self, now: float, delay: float) -> None:
        """The interval is over; what is decided takes effect ``delay`` seconds later."""
        if self.trained:
            self.due = True
            return
        self.wanted = self.policy()
        if delay > 0:
            self.timer = now + delay
        else:
            self.act(now)

    def on_timer(self, now: float) -> None:
        """The decision takes effect."""
        self.timer = math.inf
        self.act(now)
