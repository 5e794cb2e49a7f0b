"""PET's training for completion times: PPO on the virtual engine, in packets, with the reward of `felt`.

Every episode is WebSearch or DataMining at a load of its own. Some copies of it run with the same arrivals and other
draws of the policy: a copy's reward counts against that of the others, slot by slot, for most of its variance is the
traffic's (Mao et al., "Variance reduction for reinforcement learning in input-driven environments", ICLR 2019).
"""

from __future__ import annotations

import numpy as np

from ..learned.observation import width
from ..learned.tuner import SLOTS
from . import ALPHA, FCT, grid
from .beginning import begin
from .cell import Cell
from .decision import Heads
from .ppo import Ppo, PpoSettings, Trajectories
from .settings import WORKLOADS, Settings
from .training import Training

LOADS = (0.3, 0.9)  # from and to


class FctTraining(Training):
    """One learner for all workloads and loads."""

    def __init__(self, settings: Settings) -> None:
        self.settings, self.workload, self.flows = settings, FCT, True
        self.grid = grid(ALPHA)
        chosen = PpoSettings(**{name: getattr(settings, name) for name in PpoSettings.__dataclass_fields__})
        self.learner = Ppo(self.grid, width(SLOTS, flows=True), chosen, settings.seed)
        begin(self.learner.torch, self.learner.actor, self.grid)
        self.rng = np.random.default_rng(settings.seed)
        self.slots = settings.episode  # every update is of whole episodes

    def _trajectories(self) -> tuple[Trajectories, float]:
        """Of all copies of an episode, side by side; and the mean of what was felt, -1 under SECN1."""
        rng, settings = self.rng, self.settings
        workload, load = str(rng.choice(WORKLOADS)), float(rng.uniform(*LOADS))
        incasts = bool(settings.incasts and rng.uniform() < settings.incasts)  # none: draws as without the option
        cell = Cell(workload, load, int(rng.integers(2**31)), settings.ports, settings.episode, incasts=incasts)
        copies = [cell.drawn(self.learner) for _ in range(settings.copies)]
        self.heads = Heads(self.grid, np.tile(cell.buffer, settings.copies))
        columns = zip(*(seen for seen, _ in copies), strict=True)
        features, actions, log_prob, values = (np.concatenate(one, axis=1) for one in columns)
        gained = np.stack([one for _, one in copies])
        against = (gained - gained.mean(axis=0)) * (settings.copies / max(settings.copies - 1, 1))
        rewards = np.concatenate(list(against), axis=1) * gained[0].size  # about 1 per slot and queue
        seen = Trajectories(features, actions, log_prob, rewards, values, values[-1])
        return seen, float(gained.sum()) / len(copies)
