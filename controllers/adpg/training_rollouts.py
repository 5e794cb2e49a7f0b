"""The environments that a network is trained in: compiled (rollout.c), or the fluid model with the real controller."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from testbed.base.arrays import Floats, Ints
from testbed.controller import Paths
from testbed.engines.fluid.fluid import Fluid, Options
from testbed.engines.fluid.layout import FluidLayout

from .controller import AdpgController, Policy
from .evaluate import BASE_RTT
from .loss import LONGEST
from .network import SHAPES, Network
from .observation import FEATURES, AdpgConfig, History
from .rollout import Recorded, Rollout
from .training_settings import Settings

ENOUGH, MOST_STEPS = 15, 1500  # decisions per flow, and steps, of one update
LOOK_EVERY = 16  # steps
LINE_RATE, BUFFER = 100e9, 5e6  # bit/s, bytes


class Environments(Protocol):
    """Many incasts that go on from one update to the next."""

    def collect(self, network: Network) -> Recorded:
        """What each flow decides next, at least `ENOUGH` times if that takes no more than `MOST_STEPS`."""
        ...


def environments(settings: Settings, seed: int) -> Environments:
    """The settings' environments."""
    return CompiledEnvironments(settings, seed) if settings.rollout == "compiled" else FluidEnvironments(settings, seed)


def _flows_of(settings: Settings) -> Ints:
    return np.repeat(settings.senders, settings.copies)


class CompiledEnvironments:
    """In C."""

    def __init__(self, settings: Settings, seed: int) -> None:
        self.rollout = Rollout(
            _flows_of(settings),
            step=settings.step,
            beta=settings.beta,
            target=settings.target,
            highest_x=settings.highest_x,
            restarts=(settings.start_window, settings.shortest_episode, settings.longest_episode),
            seed=seed,
        )
        self.most = len(self.rollout.environment) * 4 * LONGEST

    def collect(self, network: Network) -> Recorded:
        """See `Environments`."""
        return self.rollout.advance(network, steps=MOST_STEPS, enough=ENOUGH, record=self.most)


class FluidEnvironments:
    """In `testbed.engines.fluid.fluid`, with one probe per flow: the controller that runs in the rack, and numpy."""

    def __init__(self, settings: Settings, seed: int) -> None:
        layout = _layout(_flows_of(settings))
        config = AdpgConfig(beta=settings.beta, target=settings.target, start_rate=1.0, window="none")
        self.learner = _Learner(config, layout.paths)
        self.model = Fluid(layout, lambda: self.learner, Options(step=settings.step, seed=seed))
        self.rng = np.random.default_rng(seed)
        self.window, self.episode = settings.start_window, (settings.shortest_episode, settings.longest_episode)
        self.reset_at = np.zeros(layout.queues)

    def collect(self, network: Network) -> Recorded:
        """See `Environments`."""
        notes = self.learner.notes
        self.learner.policy = network
        notes.begin()
        for step in range(1, MOST_STEPS + 1):
            self._restart()
            self.model.step()
            if step % LOOK_EVERY == 0 and notes.decisions.min() >= ENOUGH:
                break
        return notes.recorded()

    def _restart(self) -> None:
        """Begin anew at random times within the window, for a random while."""
        now = self.model.now
        due = np.flatnonzero(self.reset_at <= now)
        if not len(due):
            return
        queue_of = self.model.layout.queue
        windows = self.rng.uniform(0, self.window, len(self.reset_at))
        self.model.restart(due, now + self.rng.uniform(0, 1, len(queue_of)) * windows[queue_of])
        self.learner.notes.episode[np.isin(queue_of, due)] += 1
        self.reset_at[due] = now + self.rng.uniform(*self.episode, len(due))


class _Notes(History):
    """A history that keeps what it is asked for."""

    def __init__(self, flows: int) -> None:
        super().__init__(flows)
        self.episode, self.decisions = np.zeros(flows, np.int64), np.zeros(flows, np.int64)
        self.begin()

    def begin(self) -> None:
        """Keep nothing of what was before."""
        self._kept: list[tuple[Ints, Floats]] = []
        self.decisions[:] = 0

    def features(self, flows: Ints, x: Floats) -> Floats:
        found = super().features(flows, x)
        self._kept.append((flows + len(self.episode) * self.episode[flows], found))
        self.decisions[flows] += 1
        return found

    def recorded(self) -> Recorded:
        """In the order of time."""
        if not self._kept:
            return Recorded(np.empty((0, FEATURES)), np.empty(0, np.int64))
        sequence, features = zip(*self._kept, strict=True)
        return Recorded(np.concatenate(features), np.concatenate(sequence))


class _Learner(AdpgController):
    """The controller with a policy that changes."""

    name = "adpg-learner"

    def __init__(self, config: AdpgConfig, paths: Paths) -> None:
        super().__init__(config, paths)
        self.notes = self.history = _Notes(len(self.paths))

    @classmethod
    def load(cls, config: AdpgConfig) -> Policy:  # noqa: ARG003 - it is given one
        return Network(tuple(np.zeros(shape) for shape in SHAPES))


def _layout(flows_of: Ints) -> FluidLayout:
    n = int(flows_of.sum())
    return FluidLayout(
        host=np.arange(n),
        queue=np.repeat(np.arange(len(flows_of)), flows_of),
        start=np.full(n, np.inf),
        size=np.full(n, np.inf),
        base_rtt=np.full(n, BASE_RTT),
        line_rate=LINE_RATE,
        buffer=BUFFER,
    )
