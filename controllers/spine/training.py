"""Training SPINE's policy: episodes, PPO, and the best of what was checked."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import torch

from ..learned.checks import Check, mean_reward
from .bottlenecks import Bottlenecks
from .evaluate import Figures, failure, measure
from .policy import Policy
from .ppo import Learner
from .rollout import rollout, tensor
from .training_settings import Settings

LEFT_RATE, LEFT_SPREAD = 0.2, 0.2  # of what they began with: at the end, and when the watcher begins


SpineCheck = Check[Figures, Policy]


@dataclass
class Attempt:
    """One seed."""

    seed: int
    least: float  # the mean reward of the module's parameters
    checks: list[SpineCheck] = field(default_factory=list)

    @property
    def best(self) -> SpineCheck:
        """What is kept: of those that pass the gates the one of most reward."""
        return max(self.checks, key=lambda one: (not failure(one.figures, self.least), mean_reward(one.figures)))

    @property
    def failure(self) -> str:
        """Which gate its best check misses, or nothing."""
        return failure(self.best.figures, self.least)


def train(settings: Settings, told: Callable[[Attempt], None] = lambda _one: None) -> list[Attempt]:
    """All attempts."""
    least = mean_reward(measure(None, settings.cost))
    seeds = range(settings.seed, settings.seed + settings.attempts)
    return [_attempt(settings, Attempt(seed, least), told) for seed in seeds]


def _attempt(settings: Settings, attempt: Attempt, told: Callable[[Attempt], None]) -> Attempt:
    """One seed, from the first weights to the last check."""
    torch.set_num_threads(1)
    torch.manual_seed(attempt.seed)
    rng, began = np.random.default_rng(attempt.seed), time.process_time()
    first = Bottlenecks((1,), rng).places[0, 0]
    learner = Learner(tensor(first).clamp(0.02, 0.98), settings.rate)
    for number in range(settings.episodes):
        done = number / settings.episodes
        quiet = max(1 - (1 - LEFT_SPREAD) * done / settings.always, LEFT_SPREAD)
        episode = rollout(settings, learner.hierarchy, rng, settings.spread * quiet, done < settings.always)
        learner.update(episode, settings.rate * (1 - (1 - LEFT_RATE) * done))
        if (number + 1) % settings.check_every == 0 or number + 1 == settings.episodes:
            policy = learner.hierarchy.policy()
            figures = measure(policy, settings.cost)
            attempt.checks.append(SpineCheck(number + 1, time.process_time() - began, figures, policy))
            told(attempt)
    return attempt
