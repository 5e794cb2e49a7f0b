"""What an environment needs of an engine: one simulation in progress."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from testbed.base.arrays import Floats
from testbed.sdk.gym.steered import Steered


class Session(Protocol):
    """One experiment, from its beginning on."""

    controller: Steered

    @property
    def now(self) -> float:
        """Seconds since the beginning."""
        ...

    @property
    def live(self) -> NDArray[np.bool_]:
        """Flows that have started and not finished, shape (n,)."""
        ...

    @property
    def finished(self) -> Floats:
        """When flows finished (s), or nan; shape (n,)."""
        ...

    def steer(self, actions: Floats) -> None:
        """Act for the flows that are due."""
        ...

    def advance(self, until: float) -> bool:
        """Go on to the `Barrier`, or to ``until``: whether the barrier came first. Raises PluginFailed."""
        ...

    def close(self) -> None:
        """It will not go on."""
        ...


class Barrier:
    """When a step that began at ``began`` (s) is over: all live flows are due, or half of them were, half of it ago."""

    def __init__(self, controller: Steered, began: float) -> None:
        self.controller, self.began = controller, began
        self.latest = np.inf  # s
        controller.news = True

    def reached(self, live: NDArray[np.bool_], now: float) -> bool:
        """Whether it is over."""
        if now < self.latest and not self.controller.news:
            return False
        self.controller.news = False
        due, flows = int(np.count_nonzero(live & self.controller.due)), int(np.count_nonzero(live))
        if due and 2 * due >= flows and self.latest == np.inf:
            self.latest = now + (now - self.began)
        return now >= self.latest or 0 < due == flows

    def enough(self, live: NDArray[np.bool_]) -> int:
        """How many flows must have been answered before it can be over, or before it is known when it will be."""
        flows = int(np.count_nonzero(live))
        return flows if self.latest < np.inf else max((flows + 1) // 2, 1)
