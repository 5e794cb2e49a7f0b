"""From the compressed network to boosted trees, accepted by closed loops.

As ADPG's (`testbed_controllers.adpg.distillation`), with the states of the student's own loops, labelled by the
teacher, in rounds: trees err elsewhere than the network, and their loops then go where it never was.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from pydantic import Field

from testbed.base.arrays import Floats
from testbed.base.extras import need
from testbed.sdk.jobs import JobConfig

from ..learned.attempts import attempts
from ..learned.boosting import boosted
from ..learned.checks import failure
from .evaluate import Figures, measure, refused
from .network import Network
from .tree import Trees
from .visited import difference, visited


class Settings(JobConfig):
    """What distilling DECC can be told."""

    network: str = Field(default="", description="File of the teacher (JSON); by default the shipped quantised one.")
    trees: int = Field(default=40, ge=1, le=1000, description="How many trees are summed.")
    depth: int = Field(default=6, ge=1, le=10, description="Questions of each tree.")
    learning_rate: float = Field(default=0.3, gt=0, le=1, description="Of boosting.")
    l2: float = Field(default=1.0, ge=0, description="Regularisation of the leaves.")
    near: float = Field(default=0.02, gt=0, description="An error weighs 1 / (a^2 + near^2) at action a.")
    rows: int = Field(default=600_000, ge=1000, le=20_000_000, description="Most states that are learnt from.")
    rounds: int = Field(default=4, ge=1, le=20, description="Of states: the teacher's loops, then the students'.")
    seed: int = Field(default=1, ge=0, description="Of the data and of CatBoost.")
    attempts: int = Field(default=6, ge=1, le=100, description="Seeds that are tried while no trees are accepted.")


PRESETS: dict[str, dict[str, Any]] = {
    "fast": {},
    "paper": {"trees": 300, "depth": 6, "learning_rate": 0.02},
}
NOTES = {
    "fast": "few trees with the steps that they need: a decision in some 100 ns",
    "paper": "the printed learning rate, and as many trees as it needs (not printed)",
}


@dataclass(frozen=True)
class Attempt:
    """Trees of one seed, and how well they do."""

    seed: int
    trees: Trees
    figures: list[Figures]
    difference: float  # %, of actions on states of the trees' loops
    failure: str  # why closed loops do not accept them, or nothing


def distil(teacher: Network, settings: Settings, told: Callable[[Attempt], None] = lambda _one: None) -> list[Attempt]:
    """Attempts until one is accepted, which is then the last. Raises BadInput without CatBoost."""
    need("catboost")
    aim = measure(teacher.act)
    return attempts(settings.attempts, lambda number: _attempt(teacher, aim, settings, settings.seed + number), told)


def _attempt(teacher: Network, aim: list[Figures], settings: Settings, seed: int) -> Attempt:
    rng = np.random.default_rng(seed)
    states = visited(teacher.act, rng)
    for one in range(settings.rounds):
        trees = _fit(states, teacher, settings, seed)
        if one < settings.rounds - 1:
            states = np.concatenate((states, visited(acting(trees), rng)))
    act, figures = acting(trees), measure(acting(trees))
    missed = failure(figures) or refused(figures, aim)
    return Attempt(seed, trees, figures, difference(act, teacher.act, visited(act, rng)), missed)


def _fit(states: Floats, teacher: Network, settings: Settings, seed: int) -> Trees:
    picked = np.random.default_rng(seed).permutation(len(states))[: settings.rows]
    features = states[picked]
    wanted = teacher.act(features)
    model = boosted(
        features,
        wanted,
        1.0 / (wanted**2 + settings.near**2),
        trees=settings.trees,
        depth=settings.depth,
        learning_rate=settings.learning_rate,
        l2=settings.l2,
        seed=seed,
    )
    about = settings.model_dump(mode="json", exclude={"network", "attempts"})
    return Trees.of(model, {**about, "seed": seed, "network": teacher.training})


def acting(trees: Trees) -> Callable[[Floats], Floats]:
    """Actions for histories of shape (..., 25), limited as the controller does."""

    def act(seen: Floats) -> Floats:
        return np.clip(trees.decide(seen.reshape(-1, seen.shape[-1])), -0.5, 0.5).reshape(seen.shape[:-1])

    return act
