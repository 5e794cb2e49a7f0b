"""Flows as environments that share one policy: stable-baselines3's VecEnv, which its learners train on as it is."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from stable_baselines3.common.vec_env import VecEnv

from testbed.sdk.gym.flows import Flows
from testbed.sdk.gym.spaces import box


class AlikeRows(VecEnv):
    """Rows that are asked as one: they have the same attributes and methods, those of the whole, and no wrappers."""

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        return self._of_each(getattr(self, attr_name), indices)

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:  # noqa: ARG002
        setattr(self, attr_name, value)

    def env_method(self, method_name: str, *method_args: Any, indices: Any = None, **method_kwargs: Any) -> list[Any]:
        return self._of_each(getattr(self, method_name)(*method_args, **method_kwargs), indices)

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:  # noqa: ARG002
        return self._of_each(False, indices)

    def _of_each(self, answer: Any, indices: Any) -> list[Any]:
        return [answer] * len(list(self._get_indices(indices)))


class VectorFlows(AlikeRows):
    """A row per flow. When time is over all begin anew; a flow that has finished before has no rewards till then.

    What a flow does that is not due is ignored; its info says so.
    """

    def __init__(self, flows: Flows) -> None:
        self.flows = flows
        self.render_mode = None
        super().__init__(flows.n, box(flows.observation), box(flows.action))

    def reset(self) -> NDArray[np.float32]:
        now = self.flows.reset(self._seeds[0])
        self._reset_seeds()
        self._ended = now.finished
        return now.observations

    def step_async(self, actions: NDArray[Any]) -> None:
        self._actions = actions

    def step_wait(self) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.bool_], list[dict[str, Any]]]:
        now = self.flows.step(self._actions)
        done = now.finished & ~self._ended
        self._ended = now.finished
        infos: list[dict[str, Any]] = [{"due": due} for due in now.due.tolist()]
        observations = now.observations
        if now.over:
            for number, info in enumerate(infos):
                info["terminal_observation"] = now.observations[number]
                info["TimeLimit.truncated"] = not now.finished[number]
            done = np.ones(self.num_envs, bool)
            observations = self.reset()
        else:
            for number in np.flatnonzero(done).tolist():
                infos[number]["terminal_observation"] = now.observations[number]
        return observations, now.rewards.astype(np.float32), done, infos

    def close(self) -> None:
        self.flows.close()
