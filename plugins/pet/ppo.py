"""PPO for one switch: the learner of PET's IPPO (Cheng et al., equations 9 to 13, algorithm 1), with torch.

Actor and critic are two networks; all queues of a switch share them, each contributes its own trajectory.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from testbed.base.arrays import Floats, Ints
from testbed.sdk.adam import Adam

from ..learned.grid import Grid
from ..learned.mlp import mlp, of_layers, torch_of
from ..learned.policy import Layer
from .decision import Heads

SMALL = 0.01  # gain of the actor's last layer


@dataclass(frozen=True)
class PpoSettings:
    """What IPPO's published form leaves open is marked; see docs/reference/tuners.md."""

    actor_rate: float = 4e-4
    critic_rate: float = 1e-3
    clip: float = 0.2
    gamma: float = 0.9  # open
    decay: float = 0.95  # lambda of the advantages; the paper's "coefficient of GAE" is 0.01
    entropy: float = 0.01  # open; falls to 0 over the training
    clip_decays: bool = False  # equation 13: the clip is multiplied with 0.99 ** (update / 50) after 50 updates
    epochs: int = 6  # open
    batch: int = 256  # open


class Trajectories(NamedTuple):
    """Slots of all queues: shape (t, n, ...); the value of what follows the last slot, shape (n,)."""

    features: Floats
    actions: Ints  # (t, n, 3)
    log_prob: Floats
    rewards: Floats
    values: Floats
    after: Floats


class Ppo:
    """Actor, critic, and what makes them better."""

    def __init__(
        self, grid: Grid, features: int, settings: PpoSettings, seed: int, actor: Sequence[Layer] = ()
    ) -> None:
        """``actor``: the layers to begin with, if not any."""
        self.torch = torch = torch_of(seed)
        self.settings, self.grid = settings, grid
        self.rng = np.random.default_rng(seed)
        self.actor = of_layers(torch, actor) if actor else mlp(torch, features, sum(grid.sizes), SMALL)
        self.critic = mlp(torch, features, 1, 1.0)
        self.optimisers = (
            Adam(self.actor.parameters(), settings.actor_rate, epsilon=1e-5),
            Adam(self.critic.parameters(), settings.critic_rate, epsilon=1e-5),
        )
        self.updates = 0

    def act(self, features: Floats, heads: Heads) -> tuple[Ints, Floats, Floats]:
        """Actions drawn from the policy, the logarithms of their probabilities, and the critic's values."""
        scores = self.scores(features)
        kmins, kmaxs, _ = self.grid.sizes
        kmin = self._draw(scores[:, :kmins] + heads.no_kmin)
        kmax = self._draw(scores[:, kmins : kmins + kmaxs] + heads.no_kmax[np.arange(len(kmin)), kmin])
        actions = np.stack((kmin, kmax, self._draw(scores[:, kmins + kmaxs :])), axis=1)
        return actions, self.log_prob(scores, actions, heads), self.values(features)

    def scores(self, features: Floats) -> Floats:
        """The actor's, shape (n, heads)."""
        with self.torch.no_grad():
            return np.asarray(self.actor(self.torch.from_numpy(features.astype(np.float32))).numpy(), float)

    def log_prob(self, scores: Floats, actions: Ints, heads: Heads) -> Floats:
        """Logarithms of the probabilities of actions, shape (n,)."""
        kmins, kmaxs, _ = self.grid.sizes
        rows = np.arange(len(actions))
        parts = (
            scores[:, :kmins] + heads.no_kmin,
            scores[:, kmins : kmins + kmaxs] + heads.no_kmax[rows, actions[:, 0]],
            scores[:, kmins + kmaxs :],
        )
        return np.asarray(sum(_log_softmax(part)[rows, actions[:, k]] for k, part in enumerate(parts)))

    def values(self, features: Floats) -> Floats:
        """The critic's, shape (n,)."""
        with self.torch.no_grad():
            given = self.torch.from_numpy(features.astype(np.float32))
            return np.asarray(self.critic(given)[:, 0].numpy(), float)

    def _draw(self, scores: Floats) -> Ints:
        """One index per row, drawn with softmax's probability: the largest score with Gumbel's noise on it."""
        noise = -np.log(-np.log(self.rng.uniform(1e-12, 1, scores.shape)))
        return np.asarray(np.argmax(scores + noise, axis=1))

    def update(self, seen: Trajectories, heads: Heads, entropy: float) -> dict[str, float]:
        """Several epochs of Adam on what was seen; ``entropy`` is its weight now. Gives losses for the log."""
        settings, torch = self.settings, self.torch
        advantages = self._advantages(seen)
        returns = advantages + seen.values
        n = seen.rewards.size
        queue = np.tile(np.arange(seen.rewards.shape[1]), len(seen.rewards))
        wide = seen.features.reshape(n, -1).astype(np.float32)
        actions = seen.actions.reshape(n, 3)
        flat = [column.reshape(n).astype(np.float32) for column in (seen.log_prob, advantages, returns)]
        no_kmin, no_kmax = heads.no_kmin[queue], heads.no_kmax[queue, actions[:, 0]]
        columns = [torch.from_numpy(np.ascontiguousarray(one)) for one in (wide, actions, *flat)]
        masks = [torch.from_numpy(one.astype(np.float32)) for one in (no_kmin, no_kmax)]
        losses: dict[str, list[float]] = {"policy": [], "value": [], "entropy": []}
        for _ in range(settings.epochs):
            order = self.rng.permutation(n)
            for begin in range(0, n - 1, settings.batch):  # one row alone has no deviation to scale by
                some = torch.from_numpy(order[begin : begin + settings.batch])
                figures = self._step([one[some] for one in columns], [one[some] for one in masks], entropy)
                for name, value in figures.items():
                    losses[name].append(value)
        self.updates += 1
        return {name: float(np.mean(values)) for name, values in losses.items()}

    def state(self) -> dict[str, Any]:
        """All that acting and learning depend on, for a checkpoint."""
        return {
            "networks": [one.state_dict() for one in (self.actor, self.critic)],
            "optimisers": [one.state_dict() for one in self.optimisers],
            "drawn": json.dumps(self.rng.bit_generator.state),
            "updates": self.updates,
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a `state`."""
        for one, saved in zip((self.actor, self.critic), state["networks"], strict=True):
            one.load_state_dict(saved)
        for one, saved in zip(self.optimisers, state["optimisers"], strict=True):
            one.load_state_dict(saved)
        self.rng.bit_generator.state = json.loads(state["drawn"])
        self.updates = state["updates"]

    @property
    def clip(self) -> float:
        """Of the probability ratio, now."""
        settings = self.settings
        decays = settings.clip_decays and self.updates > 50
        return settings.clip * (0.99 ** (self.updates / 50) if decays else 1.0)

    def _advantages(self, seen: Trajectories) -> Floats:
        """Equations 9 and 10, backwards in time. Rewards count 1 - gamma: then values are mean rewards, 0 to 1."""
        settings = self.settings
        found = np.empty_like(seen.rewards)
        following, values = np.zeros(seen.rewards.shape[1]), np.concatenate((seen.values, seen.after[None]))
        for slot in reversed(range(len(found))):
            error = (1 - settings.gamma) * seen.rewards[slot] + settings.gamma * values[slot + 1] - values[slot]
            found[slot] = following = error + settings.gamma * settings.decay * following
        return found

    def _step(self, columns: list[Any], masks: list[Any], weight: float) -> dict[str, float]:
        torch, clip = self.torch, self.clip
        features, actions, log_prob, advantages, returns = columns
        kmins, kmaxs, pmaxs = self.grid.sizes
        kmin, kmax, pmax = self.actor(features).split((kmins, kmaxs, pmaxs), dim=1)
        heads = [torch.log_softmax(one, dim=1) for one in (kmin + masks[0], kmax + masks[1], pmax)]
        now = sum(head.gather(1, actions[:, [k]])[:, 0] for k, head in enumerate(heads))
        entropy = sum(-(head.exp() * head).sum(dim=1).mean() for head in heads)
        ratio = (now - log_prob).exp()
        advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
        policy = -torch.min(ratio * advantages, ratio.clamp(1 - clip, 1 + clip) * advantages).mean()
        value = ((self.critic(features)[:, 0] - returns) ** 2).mean()
        for optimiser, network, loss in (
            (self.optimisers[0], self.actor, policy - weight * entropy),
            (self.optimisers[1], self.critic, value),
        ):
            optimiser.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(network.parameters(), 0.5)
            optimiser.step()
        return {"policy": policy.item(), "value": value.item(), "entropy": entropy.item()}


def _log_softmax(scores: Floats) -> Floats:
    shifted = scores - scores.max(axis=1, keepdims=True)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True)))
