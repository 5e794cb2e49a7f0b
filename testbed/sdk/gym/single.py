"""All flows as one agent: gymnasium's Env."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from testbed.sdk.gym.flows import Flows, Stepped
from testbed.sdk.gym.spaces import box

Array = NDArray[np.float32]


class JointFlows(gymnasium.Env[Array, Array]):
    """Observations and actions have a row per flow; the reward is the mean of the flows that are due."""

    metadata = {"render_modes": []}  # noqa: RUF012 - gymnasium's

    def __init__(self, flows: Flows) -> None:
        self.flows = flows
        self.observation_space = box(flows.observation, flows.n)
        self.action_space = box(flows.action, flows.n)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Array, dict[str, Any]]:
        super().reset(seed=seed, options=options)
        now = self.flows.reset(seed)
        return now.observations, self._info(now)

    def step(self, action: Array) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        now = self.flows.step(np.asarray(action, float))
        reward = float(now.rewards.sum() / max(now.due.sum(), 1))
        done = bool(now.finished.all())
        return now.observations, reward, done, now.over and not done, self._info(now)

    def _info(self, now: Stepped) -> dict[str, Any]:
        return {"time": self.flows.now, "due": now.due}

    def close(self) -> None:
        self.flows.close()
