"""MADDPG with one actor for all flows and two critics that see the bottleneck (Lowe et al. 2017; Fujimoto et al. 2018).

The paper has one central critic and does not say whether its s and a are all flows'; that would not extend to thousands
of flows. Here the critic sees the global state and one flow's own history and action.
"""

from __future__ import annotations

import copy

import numpy as np
import torch
from torch import Tensor

from testbed.base.arrays import Floats, Ints
from testbed.sdk.adam import Adam

from .networks import SHARED, Actor, Critics
from .observation import FEATURES, MOST_ACTION

SCALE = 10.0  # of rewards
GAMMA, BATCH = 0.98, 192  # as printed
TAU = 0.005
TARGET_NOISE = 0.05
MEMORY = 400_000  # transitions of one flow


class Replay:
    """Transitions of single flows: the newest `MEMORY`."""

    def __init__(self) -> None:
        width = 2 * (SHARED + FEATURES) + 2
        self.rows = np.empty((MEMORY, width), np.float32)
        self.length = self.at = 0

    def add(self, *columns: Floats) -> None:
        """Global state, history, action, reward, and the next state and history; each with k rows."""
        block = np.column_stack(columns)
        places = (self.at + np.arange(len(block))) % MEMORY
        self.rows[places] = block
        self.at = (self.at + len(block)) % MEMORY
        self.length = min(self.length + len(block), MEMORY)

    def sample(self, rng: np.random.Generator, count: int) -> list[Tensor]:
        """The columns of random ones."""
        picked: Ints = rng.integers(0, self.length, count)
        block = torch.from_numpy(self.rows[picked])
        return list(torch.split(block, [SHARED, FEATURES, 1, 1, SHARED, FEATURES], dim=1))


class Learner:
    """The actor, the critics, and how they learn."""

    def __init__(self, actor_rate: float, critic_rate: float) -> None:
        self.actor, self.critics = Actor(), Critics()
        self.actor_steps = Adam(self.actor.parameters(), actor_rate)
        self.critic_steps = Adam(self.critics.parameters(), critic_rate)
        self.updates = 0
        self.follow()

    def follow(self) -> None:
        """The targets become what is learnt."""
        self.slow_actor, self.slow_critics = copy.deepcopy(self.actor), copy.deepcopy(self.critics)

    def slow_down(self, actor_rate: float, critic_rate: float) -> None:
        """Learn at these rates from now on."""
        self.actor_steps.rate, self.critic_steps.rate = actor_rate, critic_rate

    def update(self, columns: list[Tensor], teach_actor: bool) -> None:
        """One step: of the critics, and every second time of the actor."""
        shared, seen, action, reward, next_shared, next_seen = columns
        with torch.no_grad():
            noise = (torch.randn(len(seen)) * TARGET_NOISE).clamp(-0.1, 0.1)
            following = (self.slow_actor(next_seen) + noise).clamp(-MOST_ACTION, MOST_ACTION)
            future = self.slow_critics(next_shared, next_seen, following).min(dim=0).values
            wanted = SCALE * reward[:, 0] + GAMMA * future
        error = (self.critics(shared, seen, action[:, 0]) - wanted).square().mean()
        self.critic_steps.zero_grad()
        error.backward()
        self.critic_steps.step()
        self.updates += 1
        if self.updates % 2:
            return
        if teach_actor:
            loss = -self.critics(shared, seen, self.actor(seen))[0].mean()
            self.actor_steps.zero_grad()
            loss.backward()
            self.actor_steps.step()
        _drift(self.slow_actor, self.actor)
        _drift(self.slow_critics, self.critics)


@torch.no_grad()
def _drift(slow: torch.nn.Module, quick: torch.nn.Module) -> None:
    for old, new in zip(slow.parameters(), quick.parameters(), strict=True):
        old.lerp_(new, TAU)
