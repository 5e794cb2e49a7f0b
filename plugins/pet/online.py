"""PET's online incremental training: every switch goes on with its own actor and critic (Cheng et al., section 4.4.2).

Some decisions are drawn from the policy instead of being its best, and fewer as time goes on (equation 13, read as the
exploration that the text speaks of). A guard takes over when the reward falls far below what it was before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np

from testbed.controller import Floats, Ints
from testbed.packages import need
from testbed.tuner import Thresholds

from ..learned.policy import layers_of
from .ppo import Ppo, PpoSettings, Trajectories

if TYPE_CHECKING:
    from . import Pet

TRAJECTORY = 32  # slots between two updates
DECAY_RATE, DECAY_STEP = 0.99, 50  # equation 13; in slots
ACTOR_RATE, CRITIC_RATE = 1e-4, 1e-3  # a quarter of the offline rate: what was learned there should not be lost
WINDOW = 32  # slots that the guard averages over


class Guard:
    """Compares the reward of the last slots with the reference: that of the first ones, or under static thresholds.

    After a time of static thresholds their reward is the reference, so that traffic which is harder for everybody
    does not look like a bad policy again and again.
    """

    def __init__(self, bound: float) -> None:
        self.bound = bound
        self.static = False  # whether static thresholds are in force
        self.falls = 0
        self._rewards: list[float] = []
        self._reference = -np.inf

    def look(self, reward: float) -> None:
        """The slot that ended gained so much."""
        self._rewards.append(reward)
        if len(self._rewards) < WINDOW:
            return
        mean, self._rewards = float(np.mean(self._rewards)), []
        if self.static:
            self.static, self._reference = False, mean
        elif mean < (1 - self.bound) * self._reference:
            self.static, self.falls = True, self.falls + 1
        else:
            self._reference = max(self._reference, mean) if np.isfinite(self._reference) else mean


class Online:
    """Decides for one switch, and learns from what became of it."""

    def __init__(self, pet: Pet) -> None:
        self.pet = pet
        features = pet.kind(flows=pet.observation.flows).features
        settings = PpoSettings(actor_rate=ACTOR_RATE, critic_rate=CRITIC_RATE, epochs=2)
        # Independent learners that begin with the same weights must still draw apart.
        seed = crc32(f"{pet.ports.switch} {pet.config.seed}".encode())
        need("torch", "onnx")
        self.ppo = Ppo(pet.grid, features, settings, seed, layers_of(pet.file))
        self.rng = np.random.default_rng(seed)
        self.guard = Guard(pet.config.guard)
        self.slots = 0
        self._static = pet.current.copy()
        self._last: tuple[Floats, Ints, Floats, Floats] | None = None  # whose reward the next slot tells
        self._seen: list[tuple[Floats | Ints, ...]] = []

    @property
    def exploration(self) -> float:
        """Share of the decisions that are drawn now."""
        decays = self.slots > DECAY_STEP
        return self.pet.config.explore * (DECAY_RATE ** (self.slots / DECAY_STEP) if decays else 1.0)

    def decide(self, features: Floats, rewards: Floats) -> Thresholds:
        """Thresholds for the next slot; ``rewards`` is what the last ones gained, shape (n,)."""
        pet, ppo = self.pet, self.ppo
        self.slots += 1
        if self._last is not None:
            self._seen.append((*self._last, rewards))
        self.guard.look(float(rewards.mean()))
        if len(self._seen) >= TRAJECTORY:
            self._learn(features)
        pet.report |= {"exploration": self.exploration, "static": float(self.guard.static)}
        if self.guard.static:
            self._last, self._seen = None, []  # not the policy's doing
            return pet.thresholds(self._static)
        scores = ppo.scores(features)
        drawn = ppo.act(features, pet.heads)[0]
        explores = self.rng.uniform(size=len(drawn)) < self.exploration
        pet.current = np.where(explores[:, None], drawn, pet.heads.best(scores))
        self._last = (features, pet.current, ppo.log_prob(scores, pet.current, pet.heads), ppo.values(features))
        return pet.thresholds(pet.current)

    def _learn(self, features: Floats) -> None:
        columns = [np.array(one) for one in zip(*self._seen, strict=True)]
        seen, actions, log_prob, values, rewards = columns
        self._seen = []
        ppo = self.ppo
        told = Trajectories(seen, actions, log_prob, rewards, values, ppo.values(features))
        self.pet.report |= ppo.update(told, self.pet.heads, entropy=0.0)
