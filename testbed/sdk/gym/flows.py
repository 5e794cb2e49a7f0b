"""The flows of an experiment, stepped: all forms of environment are views of this."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from testbed.base.arrays import Floats
from testbed.engines.engine import Engine
from testbed.engines.fluid.engine import FluidEngine
from testbed.engines.virtual.engine import VirtualEngine
from testbed.errors import BadInput, nearest
from testbed.experiment.load import load, resolve
from testbed.experiment.resolved import Resolved
from testbed.learned import Numbers
from testbed.sdk.gym.fluid import FluidSession
from testbed.sdk.gym.session import Session
from testbed.sdk.gym.steered import steered
from testbed.sdk.gym.virtual import VirtualSession

ENGINES: dict[str, tuple[type[Engine], Callable[[Resolved], Session]]] = {
    "fluid": (FluidEngine, FluidSession),
    "virtual": (VirtualEngine, VirtualSession),
}
NEXT_SEED = 2**31  # of episodes that nobody gave a seed: drawn below it


class Stepped(NamedTuple):
    """What a step came to: a row per flow."""

    observations: NDArray[np.float32]  # shape (n, size)
    rewards: Floats  # of the flows that are due, 0 of others
    finished: NDArray[np.bool_]  # has sent everything
    due: NDArray[np.bool_]  # will act in the next step; the action of others is ignored
    over: bool  # the experiment's time


class Flows:
    """``n`` flows that act together.

    A step acts for all flows whose monitor interval is over, and goes on until that is so of all live flows again
    (`is_over`: those that take twice as long as half of them keep what they have decided).
    """

    def __init__(self, experiment: str, *, engine: str, controller: str, settings: Sequence[str]) -> None:
        """Raises BadInput."""
        if engine not in ENGINES:
            raise BadInput(
                f"engine '{engine}' cannot be an environment, which must wait for whoever acts; "
                f"{nearest(engine, list(ENGINES))}"
            )
        loaded = load(experiment)
        if controller:
            loaded = loaded.choose("controller", controller, "controller")
        self._loaded = loaded.apply([f"engine={engine}", *settings], "settings")
        self._check, self._begin = ENGINES[engine]
        self._rng = np.random.default_rng(self._loaded.experiment.seed)
        self.session: Session | None = None
        if self._loaded.experiment.controllers:
            raise BadInput("controllers: the flows of an environment have one policy; leave it out")
        self.resolved = resolve(self._loaded, steered)
        self._check().check(self.resolved)
        form = self.resolved.controller.form
        self.observation: Numbers = form.observation
        self.action: Numbers = form.action
        self.n = len(self.resolved.layout.plan)

    def _seeded(self, seed: int) -> Resolved:
        """The experiment with another seed. Plugins and rack are the same: to make them again would take longest."""
        before, experiment = self.resolved.experiment, self._loaded.apply([f"seed={seed}"], "seed").experiment
        if experiment.hosts == before.hosts:
            vars(experiment)["shape"] = before.shape
        resolved = replace(self.resolved, experiment=experiment)
        self._check().check(resolved)
        return resolved

    def reset(self, seed: int | None = None) -> Stepped:
        """A new episode; the same seed gives the same one, and the same ones after it."""
        if seed is not None:
            self._rng = np.random.default_rng(seed)
        self.close()
        self.resolved = self._seeded(int(self._rng.integers(NEXT_SEED)))
        if len(self.resolved.layout.plan) != self.n:
            raise BadInput(
                f"traffic.pattern: '{self.resolved.experiment.traffic.pattern}' has another number of flows with every "
                f"seed, and an environment needs a fixed one"
            )
        self.session = session = self._begin(self.resolved)
        return self._go_on(session)

    def step(self, actions: Floats) -> Stepped:
        """``actions``: shape (n, size). `reset` must come first."""
        assert self.session is not None, "reset must come first"
        self.session.steer(np.asarray(actions, float).reshape(self.n, self.action.size))
        return self._go_on(self.session)

    def _go_on(self, session: Session) -> Stepped:
        more = session.advance(self.resolved.experiment.time.duration)
        controller = session.controller
        rewards = np.zeros(self.n)
        due = np.flatnonzero(controller.due)
        if len(due):
            rewards[due] = controller.reward(due)
        one = self.observation
        seen = np.clip(controller.seen, one.low, one.high).astype(np.float32)
        finished = ~np.isnan(session.finished)
        over = not more or bool(finished.all())
        return Stepped(seen, rewards, finished, controller.due.copy(), over)

    @property
    def now(self) -> float:
        """Seconds since the beginning of the episode."""
        return self.session.now if self.session else 0.0

    def close(self) -> None:
        """The simulation in progress is given up."""
        if self.session:
            self.session.close()
        self.session = None
