"""Flows as agents: PettingZoo's ParallelEnv."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from pettingzoo import ParallelEnv

from testbed.base.arrays import Floats
from testbed.sdk.gym.flows import Flows, Stepped
from testbed.sdk.gym.spaces import box

Array = NDArray[np.float32]
Infos = dict[str, dict[str, Any]]
Item = TypeVar("Item")


class ParallelFlows(ParallelEnv[str, Array, Array]):
    """``flow-0``, ``flow-1``, ...: each ends when all is sent; those left are truncated when time is over."""

    metadata = {"name": "testbed", "render_modes": []}  # noqa: RUF012 - PettingZoo's

    def __init__(self, flows: Flows) -> None:
        self.flows = flows
        self.possible_agents = [f"flow-{number}" for number in range(flows.n)]
        self.agents: list[str] = []
        self.render_mode = None
        self._number = {name: number for number, name in enumerate(self.possible_agents)}
        self._seen = {name: box(flows.observation) for name in self.possible_agents}
        self._done = {name: box(flows.action) for name in self.possible_agents}

    def observation_space(self, agent: str) -> Any:
        return self._seen[agent]

    def action_space(self, agent: str) -> Any:
        return self._done[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[dict[str, Array], Infos]:  # noqa: ARG002
        now = self.flows.reset(seed)
        self.agents = list(self.possible_agents)
        return self._each(list(now.observations)), self._infos(now)

    def step(
        self, actions: dict[str, Array]
    ) -> tuple[dict[str, Array], dict[str, float], dict[str, bool], dict[str, bool], Infos]:
        given: Floats = np.zeros((self.flows.n, self.flows.action.size))
        for agent, action in actions.items():
            given[self._number[agent]] = action
        now = self.flows.step(given)
        rewards, finished = self._each(now.rewards.tolist()), self._each(now.finished.tolist())
        late = {agent: now.over and not done for agent, done in finished.items()}
        answer = self._each(list(now.observations)), rewards, finished, late, self._infos(now)
        self.agents = [agent for agent in self.agents if not (finished[agent] or late[agent])]
        return answer

    def _each(self, column: list[Item]) -> dict[str, Item]:
        return {agent: column[self._number[agent]] for agent in self.agents}

    def _infos(self, now: Stepped) -> Infos:
        return {agent: {"due": due} for agent, due in self._each(now.due.tolist()).items()}

    def close(self) -> None:
        self.flows.close()
