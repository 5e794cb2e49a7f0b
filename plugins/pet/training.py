"""PET's offline training: PPO on the fluid model of one switch (Cheng et al., algorithm 1)."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from testbed.base.arrays import Floats, Ints
from testbed.tuner import PortSample, Thresholds

from ..learned.checkpoint import Checkpoint
from ..learned.environment import Environment
from ..learned.mlp import layers_of
from ..learned.observation import Observation, width
from ..learned.policy import Layer
from ..learned.tuner import SLOTS, WEIGHTS, Workload
from . import ALPHA, grid
from .decision import Heads
from .ppo import Ppo, PpoSettings, Trajectories
from .reward import reward
from .settings import Settings

FIRST = (2, 4, 3)  # 80 kB, 320 kB, 20 %: as `plugins.learned.tuner.FIRST`


@dataclass
class Progress:
    """One update."""

    update: int
    seconds: float  # of CPU time
    reward: float  # mean of the trajectory
    losses: dict[str, float]


@dataclass
class Trained:
    """A trained actor."""

    actor: list[Layer]
    history: list[Progress]


class Training:
    """One learner, one workload."""

    def __init__(self, settings: Settings, workload: Workload, *, flows: bool = True) -> None:
        self.settings, self.flows = settings, flows
        self.workload: str = workload
        self.grid = grid(ALPHA)
        chosen = PpoSettings(**{name: getattr(settings, name) for name in PpoSettings.__dataclass_fields__})
        self.learner = Ppo(self.grid, width(SLOTS, flows=flows), chosen, settings.seed)
        self.environment = Environment(workload, settings.seed, ports=settings.ports, copies=settings.copies)
        self.rng = self.environment.rng
        self.slots = settings.episode  # of this episode: it is over

    def run(
        self, report: Callable[[Progress], None] = lambda _progress: None, checkpoint: Path | None = None
    ) -> Trained:
        """All updates, or those that are left since the ``checkpoint``, which is written at the end of every episode.

        There the next one is drawn anew, so that nothing of the model has to be kept but the state of its random
        numbers. Raises BadInput if the checkpoint is of another training.
        """
        settings = self.settings
        kept = Checkpoint(checkpoint, self.learner.torch, self._options()) if checkpoint else None
        history = self._restored(kept.load() if kept else None)
        began = time.process_time() - (history[-1].seconds if history else 0.0)
        for update in range(len(history) + 1, settings.updates + 1):
            seen, gained = self._trajectories()
            weight = settings.entropy * (1 - (update - 1) / settings.updates)
            losses = self.learner.update(seen, self.heads, weight)
            history.append(Progress(update, time.process_time() - began, gained, losses))
            if kept and (self.slots >= settings.episode or update == settings.updates):
                kept.save(self._state(history))
            report(history[-1])
        return Trained(layers_of(self.learner.actor), history)

    def _options(self) -> dict[str, Any]:
        """What makes it this training and no other."""
        others = {"workloads", "ablation"}  # each has a training of its own
        options = self.settings.model_dump(mode="json", exclude=others)
        return options | {"workload": self.workload, "flows": self.flows}

    def _state(self, history: list[Progress]) -> dict[str, Any]:
        """Between two episodes."""
        drawn = json.dumps(self.rng.bit_generator.state)
        return {"learner": self.learner.state(), "drawn": drawn, "history": [asdict(one) for one in history]}

    def _restored(self, state: dict[str, Any] | None) -> list[Progress]:
        """The history of the updates that were made before."""
        if state is None:
            return []
        self.learner.restore(state["learner"])
        self.rng.bit_generator.state = json.loads(state["drawn"])
        return [Progress(**one) for one in state["history"]]

    def _reset(self) -> None:
        """A new episode: what the first slot shows."""
        environment = self.environment
        first: Ints = np.tile(FIRST, (environment.n, 1))
        ports = environment.reset(Thresholds(*self.grid.values(first)))
        self.heads = Heads(self.grid, ports.buffer)
        self.observation = Observation(ports, SLOTS, flows=self.flows)
        self.monitored = self.rng.uniform() >= self.settings.unmonitored
        self.features: Floats = self._seen(environment.advance())
        self.slots = 0

    def _seen(self, sample: PortSample) -> Floats:
        if not self.monitored:
            unknown = np.full(self.environment.n, np.nan)
            sample = replace(sample, incast_degree=unknown, mice_share=unknown)
        return self.observation.append(sample)

    def _against_copies(self, gained: Floats) -> Floats:
        """By how much a port's reward is above that of the other ports with the same traffic.

        Most of a reward's variance is the traffic's. What others gained from the same arrivals does not depend on this
        port's actions, so it can be taken off (Mao et al., "Variance reduction for reinforcement learning in
        input-driven environments", ICLR 2019).
        """
        copies = self.settings.copies
        if copies == 1:
            return gained
        table = gained.reshape(copies, -1)
        return np.asarray((table - table.mean(axis=0)) * (copies / (copies - 1))).ravel()

    def _trajectories(self) -> tuple[Trajectories, float]:
        """A trajectory of every queue, and the mean reward in it."""
        if self.slots >= self.settings.episode:
            self._reset()
        rows: list[tuple[Floats | Ints, ...]] = []
        rewards: list[float] = []
        for _ in range(self.settings.trajectory):
            actions, log_prob, values = self.learner.act(self.features, self.heads)
            self.environment.set(Thresholds(*self.grid.values(actions)))
            sample = self.environment.advance()
            gained = reward(sample, self.environment.ports, WEIGHTS[self.workload])
            rewards.append(float(gained.mean()))
            rows.append((self.features, actions, log_prob, self._against_copies(gained), values))
            self.features = self._seen(sample)
            self.slots += 1
        features, actions, log_prob, gained, values = (np.array(one) for one in zip(*rows, strict=True))
        seen = Trajectories(features, actions, log_prob, gained, values, self.learner.values(self.features))
        return seen, float(np.mean(rewards))
