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
        """Go on until the step `is_over`, or to ``until``: whether that was first. Raises PluginFailed."""
        ...

    def close(self) -> None:
        """It will not go on."""
        ...


def is_over(controller: Steered, live: NDArray[np.bool_], late: bool) -> bool:
    """Whether a step is: all live flows are due; or half of them, if half of them were answered half of it ago."""
    due, flows = int(np.count_nonzero(live & controller.due)), int(np.count_nonzero(live))
    return due > 0 and (due == flows or (late and 2 * due >= flows))
