"""Training DECC's network: a warm start, the critics first, then both, and the best of what was checked."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import torch
from numpy.typing import NDArray

from testbed.base.arrays import Ints

from ..learned.attempts import attempts
from ..learned.checks import Check, failure, mean_reward
from .bottlenecks import Bottlenecks
from .evaluate import Figures, mean_fr, measure
from .maddpg import BATCH, Learner, Replay
from .network import Network
from .observation import MOST_ACTION
from .reward import rewards
from .training_settings import Settings
from .warm_start import clone

EPISODE = (60, 120)  # periods
PER_GROUP = 24  # transitions per period that are kept of each number of flows: each teaches alike
ENOUGH = 4000  # transitions before the first update
LEFT_NOISE, LEFT_RATE, LEFT_CRITIC_RATE = 0.4, 0.02, 0.1  # at the end, of what they began with


DeccCheck = Check[Figures, Network]  # of the slowly following actor


@dataclass
class Attempt:
    """One seed."""

    seed: int
    checks: list[DeccCheck] = field(default_factory=list)  # the first is of the start, before anything was learnt

    @property
    def best(self) -> DeccCheck:
        """What is kept: of those that pass even if compression costs what it may, the one of most reward.

        Without such, the fairest of those that pass, for what compression costs is fairness.
        """
        return max(self.checks[1:] or self.checks, key=self._worth)

    def _worth(self, check: DeccCheck) -> tuple[bool, bool, float]:
        passes = not self.failure_of(check)
        spare = passes and all(one.spare for one in check.figures)
        return passes, spare, (mean_reward if spare else mean_fr)(check.figures)

    @property
    def failure(self) -> str:
        """Which gate its best check misses, or nothing."""
        return self.failure_of(self.best)

    def failure_of(self, check: DeccCheck) -> str:
        """Which gate it misses, or that it is no better than the start; or nothing."""
        start, reward = (mean_reward(one.figures) for one in (self.checks[0], check))
        missed = failure(check.figures)
        return missed or ("" if reward > start else f"mean reward {reward:.4f} is not above the start's, {start:.4f}")


def train(settings: Settings, told: Callable[[Attempt], None] = lambda _one: None) -> list[Attempt]:
    """Attempts until one passes the gates, which is then the last."""
    return attempts(settings.attempts, lambda number: _Training(settings, settings.seed + number, told).attempt)


class _Training:
    """One seed, from the first weights to the last check."""

    def __init__(self, settings: Settings, seed: int, told: Callable[[Attempt], None]) -> None:
        torch.set_num_threads(1)
        torch.manual_seed(seed)
        self.settings, self.told = settings, told
        self.rng = np.random.default_rng(seed)
        self.began = time.process_time()
        self.attempt = Attempt(seed)
        self.learner = Learner(settings.actor_rate, settings.critic_rate)
        if settings.warm_start:
            clone(self.learner.actor, seed)
            self.learner.follow()
        senders = np.repeat(settings.senders, settings.copies)
        self.group: Ints = np.unique(senders, return_inverse=True)[1]
        self.play = Bottlenecks(tuple(senders.tolist()), self.rng, episode=EPISODE)
        self.replay = Replay()
        self._check()
        while self.learner.updates < settings.updates:
            self._period()

    def _period(self) -> None:
        """Play a period, remember it, learn."""
        play, settings = self.play, self.settings
        done = self.learner.updates / settings.updates
        noise = settings.noise * (1 - (1 - LEFT_NOISE) * done)
        before, due, shared = play.history, play.due, play.shared_state(play.period)
        action = self.learner.actor.act(before)
        action = np.clip(action + self.rng.normal(0, noise, action.shape), -MOST_ACTION, MOST_ACTION)
        period = play.step(action)
        common, own = rewards(period, settings.own_fairness)
        reward = own if settings.credit == "own" else np.broadcast_to(common[:, None], own.shape)
        i, j = self._some(due & play.due)
        after = play.shared_state(period)
        columns = (shared[i], before[i, j], action[i, j, None], reward[i, j, None], after[i], play.history[i, j])
        self.replay.add(*columns)
        play.restart_due()
        if self.replay.length >= ENOUGH:
            self._learn(done)

    def _some(self, whole: NDArray[np.bool_]) -> tuple[Ints, Ints]:
        """Up to `PER_GROUP` flows of each number of flows, of those whose step is whole."""
        i, j = np.nonzero(whole)
        group = self.group[i]
        order = np.lexsort((self.rng.random(len(i)), group))
        counts = np.bincount(group, minlength=self.group.max() + 1)
        rank = np.arange(len(i)) - np.repeat(np.cumsum(counts) - counts, counts)
        picked = order[rank < PER_GROUP]
        return i[picked], j[picked]

    def _learn(self, done: float) -> None:
        settings, learner = self.settings, self.learner
        learner.slow_down(
            settings.actor_rate * (1 - (1 - LEFT_RATE) * done),
            settings.critic_rate * max(1 - (1 - LEFT_RATE) * done, LEFT_CRITIC_RATE),
        )
        for _ in range(settings.per_period):
            learner.update(self.replay.sample(self.rng, BATCH), learner.updates >= settings.critics_first)
            if learner.updates > settings.critics_first and learner.updates % settings.check_every == 0:
                self._check()

    def _check(self) -> None:
        network = self.learner.slow_actor.network()
        figures = measure(self.learner.slow_actor.act)
        spent = time.process_time() - self.began
        self.attempt.checks.append(DeccCheck(self.learner.updates, spent, figures, network))
        self.told(self.attempt)
