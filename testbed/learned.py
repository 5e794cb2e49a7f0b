"""What the author of a controller declares whose policy is learned: observation, action and reward.

A `LearnedController` is a `RateController` whose decisions come from a policy that maps rows of observations to rows of
actions. `testbed.sdk.gym` runs the same class without its policy: then whoever trains decides.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from testbed.base.arrays import Floats, Ints
from testbed.controller import Feedback, Paths, RateController
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
