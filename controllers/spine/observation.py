"""What SPINE's policy sees and sets: six numbers per monitoring interval, and the executor's four parameters.

A reconstruction: the paper's state (throughput, latency, loss) is known from its abstract and notes of others, neither
how it is scaled nor the parameters' ranges.
"""

from __future__ import annotations

import math

import numpy as np

from testbed.base.arrays import Floats

from ..decc.observation import observed
from .executor import ExecutorConfig

INTERVAL = 10.0  # base RTTs: a monitoring interval
MEASURED = 4  # throughput, latency, loss, window
SEEN = MEASURED + 2  # and the present gamma and alpha
RANGES = ((0.001, 0.1), (0.01, 0.5), (0.02, 1.0), (0.5, 1.0))  # of alpha, beta, gamma, delta
PARAMETERS = len(RANGES)
LEAST = tuple(low for low, _ in RANGES)
SPAN = tuple(math.log(high / low) for low, high in RANGES)


def parameter(which: int, place: float) -> float:
    """Its value at a ``place`` from 0 to 1 in its range, which is logarithmic."""
    return LEAST[which] * math.exp(SPAN[which] * place)


def place(which: int, value: float) -> float:
    """Where a value is in its range; beyond it, at its end."""
    return min(max(math.log(value / LEAST[which]) / SPAN[which], 0.0), 1.0)


def places(config: ExecutorConfig) -> list[float]:
    """Of a configured executor's parameters."""
    values = (config.alpha, config.beta, config.gamma, config.delta)
    return [place(which, value) for which, value in enumerate(values)]


def parameters(given: Floats) -> Floats:
    """`parameter` of many, shape (..., 4)."""
    return np.asarray(LEAST * np.exp(np.array(SPAN) * given))


def seen(thr: Floats, inflation: Floats, loss: Floats, window: Floats, given: Floats) -> Floats:
    """The rows of many flows, shape (..., 6); ``given`` are the places of their parameters, shape (..., 4)."""
    measured = observed(thr, inflation, loss, window, window)[..., :MEASURED]
    return np.concatenate((measured, given[..., [2, 0]]), axis=-1)
