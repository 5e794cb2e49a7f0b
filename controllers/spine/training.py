"""Training SPINE's policy: episodes, PPO, and the best of what was checked."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor

from testbed.base.arrays import Floats

from .bottlenecks import Bottlenecks, Interval
from .evaluate import Figures, failure, mean_reward, measure
from .flows import Flows
from .networks import chance, density
from .policy import Policy
from .ppo import Episode, Learner
from .training_settings import Settings

LEFT_RATE, LEFT_SPREAD = 0.2, 0.2  # of what they began with: at the end, and when the watcher begins
LEAVING = 0.5  # share of the bottlenecks of which half of the flows leave


@dataclass(frozen=True)
class Check:
    """An evaluation."""

    episode: int
    seconds: float  # of CPU
    figures: list[Figures]
    policy: Policy


@dataclass
class Attempt:
    """One seed."""

    seed: int
    least: float  # the mean reward of the module's parameters
    checks: list[Check] = field(default_factory=list)

    @property
    def best(self) -> Check:
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
    return [_Training(settings, Attempt(seed, least), told).attempt for seed in seeds]


class _Training:
    """One seed, from the first weights to the last check."""

    def __init__(self, settings: Settings, attempt: Attempt, told: Callable[[Attempt], None]) -> None:
        torch.set_num_threads(1)
        torch.manual_seed(attempt.seed)
        self.settings, self.attempt, self.told = settings, attempt, told
        self.rng = np.random.default_rng(attempt.seed)
        self.senders = tuple(np.repeat(settings.senders, settings.copies).tolist())
        began = time.process_time()
        first = Bottlenecks((1,), self.rng).places[0, 0]
        self.learner = Learner(_tensor(first).clamp(0.02, 0.98), settings.rate)
        for number in range(settings.episodes):
            done = number / settings.episodes
            quiet = max(1 - (1 - LEFT_SPREAD) * done / settings.always, LEFT_SPREAD)
            episode = self._play(settings.spread * quiet, done < settings.always)
            self.learner.update(episode, settings.rate * (1 - (1 - LEFT_RATE) * done))
            if (number + 1) % settings.check_every == 0 or number + 1 == settings.episodes:
                policy = self.learner.hierarchy.policy()
                figures = measure(policy, settings.cost)
                attempt.checks.append(Check(number + 1, time.process_time() - began, figures, policy))
                told(attempt)

    @torch.no_grad()
    def _play(self, spread: float, always: bool) -> Episode:
        """An episode with noise; half of the flows of some bottlenecks leave in it. ``always``: all intervals trigger."""
        settings, hierarchy = self.settings, self.learner.hierarchy
        play = Bottlenecks(self.senders, self.rng)
        flows, interval = Flows(play), play.step()
        columns: list[list[Floats]] = []
        leaving = self.rng.integers(settings.intervals // 4, settings.intervals, len(self.senders))
        leaving[self.rng.random(len(self.senders)) > LEAVING] = -1
        facts = [flows.facts(interval)]
        for number in range(settings.intervals):
            play.leave(leaving == number)
            seen, before, state = (_tensor(one) for one in (play.seen, flows.before, flows.state))
            forced, logit = play.due & (flows.fresh | always), hierarchy.watch(seen, before)
            triggered = forced | (play.due & (self._noise(torch.rand, logit) < torch.sigmoid(logit)).numpy())
            output, following = hierarchy.generate(seen.flatten(0, 1), state.flatten(0, 1))
            output = output.unflatten(0, logit.shape)
            drawn = output + spread * self._noise(torch.randn, output)
            watched = torch.where(torch.from_numpy(forced), 0.0, chance(logit, _tensor(triggered)))
            generated = torch.where(torch.from_numpy(triggered), density(output, drawn, spread), 0.0)
            due = play.due
            flows.take(triggered, torch.sigmoid(drawn).numpy().astype(float), following.unflatten(0, logit.shape).numpy())
            interval = play.step()
            facts.append(flows.facts(interval))
            reward = self._value(play, interval) - settings.cost * triggered
            columns.append([seen, before, due, forced, triggered, drawn, watched + generated, reward])
        seen, before, due, forced, triggered, drawn, log_chance, reward = (
            torch.stack([torch.as_tensor(one).flatten(0, 1) for one in column]) for column in zip(*columns, strict=True)
        )
        told = torch.stack([_tensor(one).flatten(0, 1) for one in facts])
        episode = Episode(seen, before, told, due, forced, triggered, drawn, log_chance, reward.float(), spread)
        return episode.of(due.any(0).nonzero()[:, 0])

    def _noise(self, draw: Callable[[torch.Size], Tensor], like: Tensor) -> Tensor:
        """Flows that share the reward share the noise: alone, each would drown in what the others try."""
        shape = like.shape if self.settings.credit == "own" else torch.Size((like.shape[0], 1, *like.shape[2:]))
        return draw(shape).expand(like.shape)

    def _value(self, play: Bottlenecks, interval: Interval) -> Floats:
        """Of an interval, for each flow."""
        if self.settings.credit == "shared":
            return np.broadcast_to(interval.value[:, None], play.due.shape)
        own = play.delivered / interval.inflation[:, None]
        return np.asarray(own - interval.loss[:, None])


def _tensor(array: Floats) -> Tensor:
    return torch.from_numpy(np.ascontiguousarray(array, np.float32))
