"""From the network to a few shallow trees (CatBoost; the extra ``[train]``).

After Fuhrer et al., CCGrid 2023 (RL-CC), with other training data and weights (facts sheet, recipe, 8): what matters is
where the multiplier crosses 1 near x = 0, and plain RMSE does not see it. So the data are a third each of states that
the closed loop visits, of states drawn at random, and of a cloud around rest; and errors near 1 weigh most. A tree is
accepted by a closed-loop run, never by its RMSE.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from pydantic import Field

from testbed.base.arrays import Floats
from testbed.base.extras import need
from testbed.sdk.jobs import JobConfig

from ..learned.attempts import attempts
from ..learned.boosting import boosted
from .evaluate import Aim, Figures, ramp, settled
from .network import Network
from .observation import HIGHEST_X
from .rollout import Rollout
from .tree import Trees

ROWS = 1_000_000
LOWEST_X = -0.8
NEAR = 0.004  # of the multiplier: how close to 1 errors weigh most
SENDERS = (1, 2, 4, 8, 16, 64, 256)


CLOSED_LOOPS = (2, 8, 64, 256, 1024)  # flows that a tree is accepted by
FURTHEST, LEAST_FR, LEAST_SU = 0.25, 0.85, 99.0  # from the oracle; min / max; %
SLOWER = 0.5  # the learning rate of every second attempt, times that of the one before


class Settings(JobConfig):
    """The recipe's, as defaults."""

    network: str = Field(default="", description="File of the network (JSON); by default the shipped one.")
    trees: int = Field(default=20, ge=1, le=1000, description="How many trees are summed.")
    depth: int = Field(default=4, ge=1, le=10, description="Questions of each tree.")
    learning_rate: float = Field(default=1.0, gt=0, le=1, description="Of boosting; halved in every second attempt.")
    l2: float = Field(default=1.0, ge=0, description="Regularisation of the leaves.")
    near: float = Field(default=NEAR, gt=0, description="An error weighs 1 / ((m - 1)^2 + near^2) at multiplier m.")
    rows: int = Field(default=ROWS, ge=1000, le=20_000_000, description="Of training data, in thirds.")
    seed: int = Field(default=1, ge=0, description="Of the data and of CatBoost.")
    attempts: int = Field(default=4, ge=1, le=100, description="Seeds that are tried while no tree is accepted.")


@dataclass(frozen=True)
class Fidelity:
    """RMSE of the trees' multiplier against the network's, by kind of state."""

    visited: float
    anywhere: float
    near_rest: float


@dataclass(frozen=True)
class Attempt:
    """Trees of one seed, and how well they do."""

    seed: int
    learning_rate: float
    trees: Trees
    fidelity: Fidelity
    figures: list[Figures]
    ramp: float  # RTTs

    @property
    def failure(self) -> str:
        """Why the closed loop does not accept the trees, or nothing."""
        for one in self.figures:
            if abs(one.error) > FURTHEST:
                return f"with {one.flows} flows the queue is {one.error:+.0%} off the oracle, at most {FURTHEST:.0%} is"
            if one.fr < LEAST_FR or one.su < LEAST_SU:
                return (
                    f"with {one.flows} flows FR is {one.fr:.2f} and SU {one.su:.1f} %, "
                    f"at least {LEAST_FR} and {LEAST_SU:g} % are needed"
                )
        return ""

    @property
    def worst(self) -> float:
        """Furthest from the oracle, relative."""
        return max(abs(one.error) for one in self.figures)


def distil(network: Network, settings: Settings, told: Callable[[Attempt], None] = lambda _one: None) -> list[Attempt]:
    """Attempts until one is accepted, which is then the last. Raises BadInput without CatBoost."""
    need("catboost")

    def tried(number: int) -> Attempt:
        return attempt(network, settings, settings.seed + number, settings.learning_rate * SLOWER ** (number % 2))

    return attempts(settings.attempts, tried, told)


def attempt(network: Network, settings: Settings, seed: int, learning_rate: float) -> Attempt:
    """Trees, and their closed loops."""
    trees = fit(network, settings, seed, learning_rate)
    aim = aim_of(network)
    figures = [settled(trees, flows, aim) for flows in CLOSED_LOOPS]
    return Attempt(seed, learning_rate, trees, fidelity(network, trees), figures, ramp(trees, aim))


def aim_of(network: Network) -> Aim:
    """What the network was trained to hold."""
    known = {name: float(network.training[name]) for name in ("beta", "target") if name in network.training}
    return Aim(**known)


def fit(network: Network, settings: Settings, seed: int, learning_rate: float) -> Trees:
    """Trees that decide as the network does."""
    rng = np.random.default_rng(seed)
    features = rng.permutation(training_set(network, settings.rows, rng))
    wanted = network.decide(features)
    weights = 1.0 / ((wanted - 1.0) ** 2 + settings.near**2)
    model = boosted(
        features,
        wanted,
        weights,
        trees=settings.trees,
        depth=settings.depth,
        learning_rate=learning_rate,
        l2=settings.l2,
        seed=seed,
    )
    about = {**settings.model_dump(mode="json", exclude={"network", "attempts"})}
    return Trees.of(model, {**about, "seed": seed, "learning_rate": learning_rate, "network": network.training})


def training_set(network: Network, rows: int, rng: np.random.Generator) -> Floats:
    """Features, shape (about ``rows``, 4)."""
    third = rows // 3
    return np.concatenate((visited(network, third, rng), anywhere(third, rng), around_rest(third, rng)))


def visited(network: Network, rows: int, rng: np.random.Generator) -> Floats:
    """States of many-to-one runs, from the start at line rate on."""
    parts = []
    for senders in SENDERS:
        copies = max(1, 64 // senders)
        restarts = (1e-3, 6e-3, 12e-3)
        rollout = Rollout(np.full(copies, senders), restarts=restarts, seed=int(rng.integers(1 << 31)))
        recorded = rollout.advance(network, steps=40_000, record=4_000_000).features
        parts.append(recorded[rng.integers(0, len(recorded), rows // len(SENDERS))])
    return np.concatenate(parts)


def anywhere(rows: int, rng: np.random.Generator) -> Floats:
    """Any multipliers, and signals of which half are small."""
    m = rng.uniform(1 / 1.2, 1.2, (rows, 2))
    small = rng.uniform(LOWEST_X, -LOWEST_X, (rows, 2))
    large = rng.uniform(-LOWEST_X, HIGHEST_X, (rows, 2))
    x = np.where(rng.random((rows, 2)) < 0.5, small, large)
    return np.column_stack((m[:, 0], x[:, 0], m[:, 1], x[:, 1]))


def around_rest(rows: int, rng: np.random.Generator) -> Floats:
    """A cloud around m = 1, x = 0."""
    m = np.clip(rng.normal(1.0, 0.01, (rows, 2)), 1 / 1.2, 1.2)
    x = np.clip(rng.normal(0.0, 0.15, (rows, 2)), LOWEST_X, HIGHEST_X)
    return np.column_stack((m[:, 0], x[:, 0], m[:, 1], x[:, 1]))


def fidelity(network: Network, trees: Trees, rows: int = 100_000, seed: int = 99) -> Fidelity:
    """On states that were not trained on."""
    rng = np.random.default_rng(seed)
    seen = visited(network, rows, rng)
    near = seen[np.abs(seen[:, 3]) < 0.4]

    def rmse(features: Floats) -> float:
        return float(np.sqrt(np.mean((trees.decide(features) - network.decide(features)) ** 2)))

    return Fidelity(rmse(seen), rmse(anywhere(rows, rng)), rmse(near))
