"""ACC, the published learned baseline (Yan et al., "ACC: Automatic ECN Tuning for High-Speed Datacenter Networks",
SIGCOMM 2021): a Q network per switch. `policies` has the trained ones, with the command, the seed and the log.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from testbed.base.arrays import Floats, Ints
from testbed.tuner import Ports, PortSample, Thresholds

from ..learned.grid import Grid, exponential
from ..learned.tuner import LearnedConfig, LearnedTuner
from .idle import Idle
from .reward import reward

LEVELS = 10  # of Kmin
KMAX = np.array([1e6, 2e6, 4e6, 8e6])  # bytes; published as "1 MB, 2 MB, ..."
PMAX = np.array([0.01, *(np.arange(1, 21) / 20)])


def grid(alpha: float) -> Grid:
    """ACC's: E(n) for Kmin, a coarse Kmax."""
    return Grid(exponential(alpha, LEVELS), KMAX, PMAX)


def valid(grid: Grid, buffer: Floats) -> np.ndarray:
    """Which of all combinations (Kmin slowest, Pmax fastest) are valid on queues with these buffers, (n, actions)."""
    return np.repeat(grid.kmax_mask(buffer).reshape(len(buffer), -1), len(grid.pmax), axis=1)


def rows(grid: Grid, actions: Ints) -> Ints:
    """Numbers of combinations to rows of indices, shape (n, 3)."""
    return np.stack(np.unravel_index(actions, grid.sizes), axis=1)


class Acc(LearnedTuner):
    """ACC: thresholds from a Q network that double DQN has trained, on the queue's rates and thresholds alone."""

    name = "acc"
    Config = LearnedConfig
    folder = Path(__file__).with_name("policies")
    presets: ClassVar[dict[str, dict[str, Any]]] = {
        "websearch": {"workload": "websearch"},
        "datamining": {"workload": "datamining"},
    }

    def __init__(self, config: LearnedConfig, ports: Ports) -> None:
        super().__init__(config, ports)
        self.no_action = np.where(valid(self.grid, ports.buffer), 0.0, -np.inf).astype(np.float32)
        self.actions = rows(self.grid, np.arange(self.outputs()))
        self.idle = Idle(len(ports))

    @classmethod
    def make_grid(cls, alpha: float) -> Grid:
        return grid(alpha)

    @classmethod
    def outputs(cls) -> int:
        return int(np.prod(grid(1.0).sizes))

    def on_slot(self, now: float, sample: PortSample) -> Thresholds:  # noqa: ARG002 - part of the interface
        rewards = reward(sample, self.ports, self.weights)
        features = self.observation.append(sample)
        self.report = {"reward": sum(rewards.tolist()) / len(rewards)}
        idle = self.idle.after(sample, rewards)
        if not idle.all():
            scores = self.policy.scores(features)
            if not math.isfinite(np.add.reduce(scores, axis=None)):
                return self.unusable()
            scores += self.no_action
            self.current = np.where(idle[:, None], self.current, self.actions[scores.argmax(axis=1)])
        return self.thresholds(self.current)
