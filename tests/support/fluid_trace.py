"""Runs a fluid model and keeps what it did over time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from testbed.base.arrays import Floats, Ints
from testbed.engines.fluid.fluid import Fluid


@dataclass(frozen=True)
class FluidTrace:
    """Samples at ``time``; all columns but the queue are cumulative. Those of queues are (t, m), of flows (t, n)."""

    step: float  # s
    every_queue: NDArray[np.float32]  # bytes, after every step: shape (steps, m)
    time: Floats  # s, from 0 on
    area: Floats  # byte-seconds in the queue
    left: Floats  # bytes that left the queue
    arrived: Floats
    marked: Floats
    dropped: Floats
    sent: Floats  # bytes that flows sent
    acked: Floats
    decisions: Ints  # of all flows, (t,)

    def growth(self, column: str, start: float) -> Floats:
        """How much a column grew from the first sample at or after ``start`` (s) to the end, per second."""
        first = min(int(np.searchsorted(self.time, start - self.step / 2)), len(self.time) - 2)
        values = getattr(self, column)
        return np.asarray((values[-1] - values[first]) / (self.time[-1] - self.time[first]))


def run(
    fluid: Fluid, duration: float, every: int = 16, each_step: Callable[[int], None] = lambda _step: None
) -> FluidTrace:
    """Go on for ``duration`` seconds, at least two steps, with a sample each ``every`` of them; ``each_step`` is told
    their number.
    """
    steps = max(round(duration / fluid.options.step), 2)
    queue = np.empty((steps, fluid.layout.queues), np.float32)
    samples = [_sample(fluid)]
    for number in range(1, steps + 1):
        fluid.step()
        queue[number - 1] = fluid.queue
        if number % every == 0 or number == steps:
            samples.append(_sample(fluid))
        each_step(number)
    return FluidTrace(fluid.options.step, queue, *(np.array(column) for column in zip(*samples, strict=True)))


def _sample(fluid: Fluid) -> tuple[Floats | float | int, ...]:
    queues, step = fluid.queues, fluid.options.step
    columns = (queues.left, queues.arrived, queues.marked, queues.dropped, fluid.sent, fluid.acked)
    return (fluid.now, queues.area * step, *(column.copy() for column in columns), fluid.decisions)
