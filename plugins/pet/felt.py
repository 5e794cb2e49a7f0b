"""The reward of the goal `fct`: what the users of a queue feel, slot by slot.

A flow that is under way for a slot of length d adds d / (its time alone on an empty path) to its own slowdown. So the
sum of that over a port's flows in a slot, taken over all slots and ports, is the sum of all slowdowns: a dense reward
with which users are served best where it is highest, and none of it is what a switch shows of itself. It takes sizes
and ends of flows, which are known of a run that is over; the policy does not see them.
"""

from __future__ import annotations

import numpy as np

from testbed.base.arrays import Floats, Ints
from testbed.tuner import ELEPHANT


def waited(start: Floats, end: Floats, alone: Floats, edges: Floats) -> Floats:
    """How long flows, rows of shape (f,), were under way in the slots between ``edges``, shape (t + 1,), in units of
    their time ``alone``: shape (f, t).
    """
    inside = np.minimum(end[:, None], edges[1:]) - np.maximum(start[:, None], edges[:-1])
    return np.asarray(np.maximum(inside, 0.0) / alone[:, None])


def mean_waits(waits: Floats, size: Floats) -> tuple[float, float]:
    """Sums of `waited` per flow, the mean over mice and that over elephants; nan without any."""
    total = waits.sum(axis=1)
    mice = size <= ELEPHANT
    return tuple(float(total[one].mean()) if one.any() else float("nan") for one in (mice, ~mice))  # type: ignore[return-value]


def felt(waits: Floats, size: Floats, port: Ints, ports: int, reference: tuple[float, float]) -> Floats:
    """Of every slot and port, shape (t, ports), in all -1 if mice and elephants (half of it each) waited for as long as
    in the ``reference``, from `mean_waits`.
    """
    mice = size <= ELEPHANT
    weight = np.zeros(len(size))
    for of, mean in zip((mice, ~mice), reference, strict=True):
        if of.any():
            weight[of] = 0.5 / (of.sum() * mean)
    reward = np.zeros((ports, waits.shape[1]))
    np.add.at(reward, port, -waits * weight[:, None])
    return reward.T
