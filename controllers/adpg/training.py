"""Training ADPG's network in the fluid model (torch; the extra ``[train]``).

Tessler et al., IAAI 2022, with three changes that make it converge from every seed (facts sheet, recipe, 2): x limited
from above, the gradient clipped by its norm, and a learning rate that decays.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from testbed.base.extras import need
from testbed.sdk.adam import Adam

from ..learned.attempts import attempts
from .evaluate import DEAD_SU, LONGEST_RAMP, Figures, converged, failure, many_to_one, ramp, score
from .loss import loss, means, sequences, tails
from .network import SHAPES, Network
from .training_rollouts import Environments
from .training_settings import Settings

CHECK_EVERY = 25  # updates
HOPELESS = 12  # checks: a policy that was dead in all of them stays dead
NEXT_SEED = 1000  # added for the next attempt


@dataclass
class Progress:
    """One check of a training run."""

    update: int
    seconds: float  # of CPU time
    score: float
    figures: list[Figures]


@dataclass
class Attempt:
    """One seed's training: its best network, and how it went."""

    seed: int
    network: Network
    best: Progress
    history: list[Progress]

    @property
    def failure(self) -> str:
        """Why the best checkpoint is no good, or nothing."""
        return failure(self.best.figures)


@dataclass
class Trained:
    """All attempts; the best one counts."""

    chosen: Attempt
    attempts: list[Attempt] = field(default_factory=list)

    @property
    def network(self) -> Network:
        return self.chosen.network

    @property
    def best(self) -> Progress:
        return self.chosen.best

    @property
    def history(self) -> list[Progress]:
        return self.chosen.history

    @property
    def converged(self) -> bool:
        """Whether the best checkpoint meets the criterion."""
        return converged(self.best.figures)


def train(settings: Settings, told: Callable[[Progress], None] = lambda _progress: None) -> Trained:
    """Train with the seed, and with the next ones while the policy fails. Raises BadInput without torch."""
    made = attempts(settings.attempts, lambda number: Training(settings, settings.seed + NEXT_SEED * number).run(told))
    return Trained(min(made, key=lambda one: (bool(one.failure), one.best.score)), made)


class Training:
    """One seed."""

    def __init__(self, settings: Settings, seed: int) -> None:
        need("torch")
        import torch

        self.torch: Any = torch
        torch.manual_seed(seed)
        torch.set_num_threads(1)  # the same sums in the same order, every time
        self.settings, self.seed = settings, seed
        self.layers = [torch.nn.Parameter(_orthogonal(shape, torch)) for shape in SHAPES]
        self.optimiser = Adam(self.layers, settings.learning_rate, epsilon=1e-5)
        self.environments = Environments(settings, seed)

    def run(self, told: Callable[[Progress], None]) -> Attempt:
        """All updates, with a check every now and then."""
        began, history = time.process_time(), []
        best: tuple[tuple[bool, float], Network, Progress] | None = None
        for update in range(1, self.settings.updates + 1):
            self._update(update - 1)
            if update % CHECK_EVERY and update != self.settings.updates:
                continue
            network = self._network()
            figures = [many_to_one(network, flows, aim=self.settings.aim) for flows in self.settings.senders]
            history.append(Progress(update, time.process_time() - began, self._score(network, figures), figures))
            told(history[-1])
            rank = (bool(failure(figures)), history[-1].score)
            if best is None or rank < best[0]:
                best = (rank, network, history[-1])
            if len(history) == HOPELESS and all(one.su < DEAD_SU for past in history for one in past.figures):
                break
        assert best is not None
        _, network, progress = best
        about = self.settings.model_dump(mode="json")
        about |= {"seed": self.seed, "update": progress.update, "score": progress.score}
        return Attempt(self.seed, Network(network.layers, about), progress, history)

    def _score(self, network: Network, figures: list[Figures]) -> float:
        """What the checkpoint is chosen by: the equilibrium, and the ramp, which no term of the loss rewards."""
        rtts = min(ramp(network, self.settings.aim), LONGEST_RAMP)
        return score(figures) + self.settings.ramp_weight * rtts / 1000

    def _update(self, done: int) -> None:
        settings, torch = self.settings, self.torch
        features, there = sequences(self.environments.collect(self._network()))
        x = features[..., 3]
        x = np.where(x < 0, settings.eager * x, x)
        tail = tails(x, there, settings.gamma) if settings.returns == "tails" else means(x, there)
        actions = _actions(torch.tensor(features, dtype=torch.float32), self.layers, torch)
        value = loss(
            actions, torch.tensor(tail).float(), torch.tensor(there).float(), settings.smoothness, settings.reward
        )
        self.optimiser.zero_grad()
        value.backward()
        if settings.clip == "norm":
            torch.nn.utils.clip_grad_norm_(self.layers, settings.clip_at)
        elif settings.clip == "value":
            torch.nn.utils.clip_grad_value_(self.layers, settings.clip_at)
        if settings.decay:
            self.optimiser.rate = settings.learning_rate * (1 - done / settings.updates)
        self.optimiser.step()

    def _network(self) -> Network:
        return Network(tuple(layer.detach().numpy().astype(float) for layer in self.layers))


def _actions(features: Any, layers: list[Any], torch: Any) -> Any:
    hidden = features
    for weights in layers[:-1]:
        hidden = torch.relu(hidden @ weights.T)
    return torch.tanh(hidden @ layers[-1].T)[..., 0]


def _orthogonal(shape: tuple[int, int], torch: Any) -> Any:
    weights = torch.empty(shape)
    torch.nn.init.orthogonal_(weights, gain=2**0.5)
    return weights
