"""PET's online incremental training: every switch goes on with its own actor and critic (Cheng et al., section 4.4.2).

Some decisions are drawn from the policy instead of being its best, and fewer as time goes on (equation 13, read as the
exploration that the text speaks of). An update is computed in a thread of low priority, so that no slot waits for it.
"""

from __future__ import annotations

import os
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np

from testbed.base.arrays import Floats, Ints
from testbed.base.extras import need
from testbed.tuner import Thresholds

from ..learned.mlp import layers_of, put_layers
from ..learned.policy import Layer, encoded, layers_in, of_switch
from .guard import Guard
from .ppo import Ppo, PpoSettings, Trajectories

if TYPE_CHECKING:
    from . import Pet

TRAJECTORY = 32  # slots between two updates
ACTIVE_AFTER = 8  # slots after which an update is active: always the same, however long the machine takes
DECAY_RATE, DECAY_STEP = 0.99, 50  # equation 13; in slots
ACTOR_RATE, CRITIC_RATE = 1e-4, 1e-3  # a quarter of the offline rate: what was learned there should not be lost
NICE = 10
IDLE = 1.0  # bit/s: the guard weighs rewards by what was sent, for a queue where nothing comes cannot be served badly

Update = tuple[list[Layer], dict[str, float]]  # the new actor, and the figures of the update


class Online:
    """Decides for one switch, and learns from what became of it."""

    def __init__(self, pet: Pet) -> None:
        need("torch", "onnx")
        self.pet = pet
        features = pet.kind(flows=pet.observation.flows).features
        settings = PpoSettings(actor_rate=ACTOR_RATE, critic_rate=CRITIC_RATE, epochs=2)
        # Independent learners that begin with the same weights must still draw apart.
        seed = crc32(f"{pet.ports.switch} {pet.config.seed}".encode())
        self.trained = layers_in(of_switch(pet.file, pet.ports.switch))  # where a policy that failed begins again
        self.ppo = Ppo(pet.grid, features, settings, seed, self.trained)  # of the thread while it works
        self.acting = Ppo(pet.grid, features, settings, seed, self.trained)
        self.rng = np.random.default_rng(seed)
        self.guard = Guard(pet.config.guard)
        self.slots = self.updates = 0
        self.kept = 0  # updates that no fall has taken back
        self._static = pet.current.copy()
        self._last: tuple[Floats, Ints, Floats, Floats] | None = None  # whose reward the next slot gives
        self._seen: list[tuple[Floats | Ints, ...]] = []
        self._worker = ThreadPoolExecutor(1, initializer=_low_priority, initargs=(self.ppo.torch,))
        self._update: tuple[int, Future[Update]] | None = None  # and the slot in which it becomes active

    @property
    def learns(self) -> bool:
        """Whether the policy still changes."""
        return not self.pet.config.learn or self.slots <= self.pet.config.learn

    @property
    def exploration(self) -> float:
        """Share of the decisions that are drawn now."""
        decays = self.slots > DECAY_STEP
        return self.pet.config.explore * (DECAY_RATE ** (self.slots / DECAY_STEP) if decays else 1.0) * self.learns

    @property
    def state(self) -> str:
        """The name of the state."""
        if self.guard.static:
            return "fallen back" if self.guard.falls else "baseline"
        return "exploring" if self.learns else "frozen"

    def decide(self, features: Floats, rewards: Floats, sent: Floats) -> Thresholds:
        """Thresholds for the next slot; ``rewards`` is what the last ones gained and ``sent`` the rates, shape (n,)."""
        pet, acting = self.pet, self.acting
        self.slots += 1
        if self._last is not None and self.learns:
            self._seen.append((*self._last, rewards))
        self._apply_update()
        if self.guard.look(float(np.average(rewards, weights=sent + IDLE))):
            self._forget()
        if len(self._seen) >= TRAJECTORY and self.learns:
            self._learn(features)
        pet.state = self.state
        pet.report |= {
            "exploration": self.exploration,
            "updates": float(self.updates),
            "falls": float(self.guard.falls),
        }
        if self.guard.static:
            self._last, self._seen = None, []  # not the policy's doing
            return pet.thresholds(self._static)
        scores = acting.scores(features)
        if not np.isfinite(scores.sum()):
            return pet.unusable()
        drawn = acting.act(features, pet.heads)[0]
        explores = self.rng.uniform(size=len(drawn)) < self.exploration
        pet.current = np.where(explores[:, None], drawn, pet.heads.best(scores))
        log_prob = acting.log_prob(scores, pet.current, pet.heads)
        self._last = (features, pet.current, log_prob, acting.values(features))
        return pet.thresholds(pet.current)

    def learned(self) -> dict[str, bytes]:
        """The actor's file, if it has learned anything that it was not made to forget."""
        about = {"plugin": self.pet.name, "workload": self.pet.config.workload, "updates": str(self.kept)}
        if not self.kept:
            return {}
        return {f"{self.pet.ports.switch}.onnx": encoded(layers_of(self.acting.actor), about)}

    def _learn(self, features: Floats) -> None:
        """Begin an update from what was seen; `_apply_update` makes it active."""
        seen, actions, log_prob, values, rewards = (np.array(one) for one in zip(*self._seen, strict=True))
        self._seen = []
        trajectories = Trajectories(seen, actions, log_prob, rewards, values, self.acting.values(features))

        def update() -> Update:
            losses = self.ppo.update(trajectories, self.pet.heads, entropy=0.0)
            return layers_of(self.ppo.actor), losses

        self._update = (self.slots + ACTIVE_AFTER, self._worker.submit(update))

    def _apply_update(self) -> None:
        if self._update is None or self.slots < self._update[0]:
            return
        actor, losses = self._update[1].result()
        self._update = None
        put_layers(self.acting.torch, self.acting.actor, actor)
        put_layers(self.acting.torch, self.acting.critic, layers_of(self.ppo.critic))
        self.updates += 1
        self.kept += 1
        self.pet.report |= losses

    def _forget(self) -> None:
        """The policy has failed: when it is active again it is the one that was trained offline."""
        if self._update is not None:
            self._update[1].result()
            self._update = None
        self.kept = 0
        for one in (self.ppo, self.acting):
            put_layers(one.torch, one.actor, self.trained)
        self.ppo.optimisers[0].forget()  # the momentum of the policy that failed


def _low_priority(torch: Any) -> None:
    """Of this thread alone: on Linux a priority is a thread's, and so is torch's number of helpers."""
    os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICE)
    torch.set_num_threads(1)
