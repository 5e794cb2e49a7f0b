"""Double DQN for one switch: y = r + gamma Q'(s', argmax Q(s', .)), with torch (van Hasselt et al., AAAI 2016)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from testbed.base.arrays import Floats, Ints
from testbed.sdk.adam import Adam

from ..learned.mlp import layers_of, mlp, put_layers, torch_of
from .replay import Replay, Transitions


@dataclass(frozen=True)
class DdqnSettings:
    """Not published; the usual ones, with a gamma that looks about ten slots ahead."""

    rate: float = 1e-3
    gamma: float = 0.9
    batch: int = 256
    shared: float = 0.5  # share of a batch that comes from the replay of all switches
    target_every: int = 50  # updates between two copies of the network into the target
    memory: int = 20_000  # transitions, local and shared alike


class Ddqn:
    """One switch's network, its target, and its own replay."""

    def __init__(self, features: int, valid: np.ndarray, settings: DdqnSettings, seed: int) -> None:
        self.torch = torch = torch_of(seed)
        self.settings = settings
        self.rng = np.random.default_rng(seed)
        self.no_action = np.where(valid, 0.0, -1e9)  # shape (actions,): what no buffer can hold
        self._no_action = torch.from_numpy(self.no_action.astype(np.float32))
        self.network = mlp(torch, features, len(valid), 0.1)
        self.target = mlp(torch, features, len(valid), 0.1)
        self.optimiser = Adam(self.network.parameters(), settings.rate)
        self.local = Replay(settings.memory, features)
        self.updates = 0
        self._copy()

    def act(self, features: Floats, explore: float) -> Ints:
        """The best action of every row, or with probability ``explore`` any valid one."""
        with self.torch.no_grad():
            scores = self.network(self.torch.from_numpy(features.astype(np.float32))).numpy()
        best = np.argmax(scores + self.no_action, axis=1)
        drawn = self.rng.choice(np.flatnonzero(self.no_action == 0), len(best))
        return np.where(self.rng.uniform(size=len(best)) < explore, drawn, best)

    def learn(self, shared: Replay) -> float:
        """One step of Adam on transitions of its own and of all switches: the loss."""
        own = round(self.settings.batch * (1 - self.settings.shared))
        parts = (self.local.draw(own, self.rng), shared.draw(self.settings.batch - own, self.rng))
        rows = Transitions(*(np.concatenate(pair) for pair in zip(*parts, strict=True)))
        torch = self.torch
        features, actions, rewards, following = (torch.from_numpy(one) for one in rows)
        with torch.no_grad():
            best = (self.network(following) + self._no_action).argmax(dim=1, keepdim=True)
            later = self.target(following).gather(1, best)[:, 0]
            # Rewards count 1 - gamma: then values are mean rewards, about 0 to 1.
            wanted = (1 - self.settings.gamma) * rewards + self.settings.gamma * later
        loss: Any = torch.nn.functional.smooth_l1_loss(self.network(features).gather(1, actions[:, None])[:, 0], wanted)
        self.optimiser.zero_grad()
        loss.backward()
        self.optimiser.step()
        self.updates += 1
        if self.updates % self.settings.target_every == 0:
            self._copy()
        return float(loss.item())

    def _copy(self) -> None:
        put_layers(self.torch, self.target, layers_of(self.network))
