"""Several environments side by side, as one: a policy then learns from incasts of 2, 4 and 8 flows at the same time."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from testbed.sdk.gym.vector import AlikeRows, VectorFlows


class JoinedFlows(AlikeRows):
    """The rows of all of them, one after the other. Each has a clock of its own and begins anew by itself."""

    def __init__(self, parts: Sequence[VectorFlows]) -> None:
        """They observe and act alike."""
        self.parts = list(parts)
        first = np.cumsum([0, *(one.num_envs for one in self.parts)]).tolist()
        self.rows = [slice(a, b) for a, b in pairwise(first)]
        self.render_mode = None
        super().__init__(first[-1], self.parts[0].observation_space, self.parts[0].action_space)

    def seed(self, seed: int | None = None) -> Sequence[int | None]:
        """Each part has another one."""
        for number, one in enumerate(self.parts):
            one.seed(None if seed is None else seed + number * self.num_envs)
        return super().seed(seed)

    def reset(self) -> NDArray[np.float32]:
        return np.concatenate([one.reset() for one in self.parts])

    def step_async(self, actions: NDArray[Any]) -> None:
        for one, rows in zip(self.parts, self.rows, strict=True):
            one.step_async(actions[rows])

    def step_wait(self) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.bool_], list[dict[str, Any]]]:
        seen, rewards, done, infos = zip(*(one.step_wait() for one in self.parts), strict=True)
        return np.concatenate(seen), np.concatenate(rewards), np.concatenate(done), list(chain(*infos))

    def close(self) -> None:
        for one in self.parts:
            one.close()
