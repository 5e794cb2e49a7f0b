"""ACC's offline training: double DQN on the fluid model of several switches that share a replay."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from testbed.base.arrays import Floats
from testbed.tuner import Thresholds

from ..learned.environment import BUFFER, Environment
from ..learned.mlp import layers_of
from ..learned.observation import Observation, width
from ..learned.policy import Layer
from ..learned.tuner import SLOTS, WEIGHTS, Workload
from . import grid, rows, valid
from .ddqn import Ddqn, DdqnSettings
from .idle import Idle
from .replay import Replay, Transitions, taken
from .reward import reward
from .settings import Settings

ALPHA = 20e3
FIRST = (2, 0, 4)  # 80 kB, 1 MB, 20 %: as near to `plugins.learned.tuner.FIRST` as the grid comes
NEXT_SEED = 1000  # added for the next switch
TELL_EVERY = 100  # slots


@dataclass
class Progress:
    """The slots since the one before."""

    slot: int
    seconds: float  # of CPU time
    reward: float  # mean of all switches
    loss: float
    explore: float


@dataclass
class Trained:
    """The network of the switch that gained most in the last quarter."""

    network: list[Layer]
    switch: int
    history: list[Progress]


class _Switch:
    """One learner in its environment."""

    def __init__(self, settings: Settings, workload: Workload, seed: int) -> None:
        self.grid, self.settings, self.weights = grid(ALPHA), settings, WEIGHTS[workload]
        features = width(SLOTS, flows=False)
        chosen = DdqnSettings(settings.rate, settings.gamma, settings.batch, settings.shared, memory=settings.memory)
        self.learner = Ddqn(features, valid(self.grid, np.array([BUFFER]))[0], chosen, seed)
        self.environment = Environment(workload, seed, ports=settings.ports)
        self.slots = settings.episode
        self.gained: list[float] = []

    def reset(self) -> None:
        """A new episode."""
        first = np.tile(FIRST, (self.environment.n, 1))
        ports = self.environment.reset(Thresholds(*self.grid.values(first)))
        self.observation = Observation(ports, SLOTS, flows=False)
        self.idle = Idle(len(ports))
        self.actions = np.full(len(ports), np.ravel_multi_index(FIRST, self.grid.sizes))
        self.features: Floats = self.observation.append(self.environment.advance())
        self.busy = np.ones(len(ports), bool)
        self.slots = 0

    def step(self, explore: float, shared: Replay) -> float:
        """One slot, and one update: the loss."""
        if self.slots >= self.settings.episode:
            self.reset()
        self.slots += 1
        self.actions = np.where(self.busy, self.learner.act(self.features, explore), self.actions)
        self.environment.set(Thresholds(*self.grid.values(rows(self.grid, self.actions))))
        sample = self.environment.advance()
        gained = reward(sample, self.environment.ports, self.weights)
        following = self.observation.append(sample)
        kept = taken(Transitions(self.features, self.actions, gained, following), self.busy)
        self.learner.local.add(kept)
        shared.add(kept)
        self.features, self.busy = following, ~self.idle.after(sample, gained)
        self.gained.append(float(gained.mean()))
        enough = min(len(self.learner.local), len(shared)) >= self.settings.batch
        return self.learner.learn(shared) if enough else np.nan


def train(
    settings: Settings, workload: Workload, report: Callable[[Progress], None] = lambda _progress: None
) -> Trained:
    """All slots."""
    began, history = time.process_time(), []
    switches = [_Switch(settings, workload, settings.seed + NEXT_SEED * one) for one in range(settings.switches)]
    shared = Replay(settings.memory, width(SLOTS, flows=False))
    losses: list[float] = []
    for slot in range(1, settings.slots + 1):
        explore = max(settings.explore, 1 - 2 * slot / settings.slots)
        losses += [one.step(explore, shared) for one in switches]
        if slot % TELL_EVERY == 0 or slot == settings.slots:
            gained = float(np.mean([one.gained[-TELL_EVERY:] for one in switches]))
            loss = float(np.nanmean(losses[-TELL_EVERY * len(switches) :]))
            history.append(Progress(slot, time.process_time() - began, gained, loss, explore))
            report(history[-1])
    last = [float(np.mean(one.gained[-max(1, settings.slots // 4) :])) for one in switches]
    best = int(np.argmax(last))
    return Trained(layers_of(switches[best].learner.network), best, history)
