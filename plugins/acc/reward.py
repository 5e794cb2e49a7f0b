"""ACC's reward: link utilisation, and a function of the queue that falls in steps, steeply while it is short.

Yan et al., "ACC: Automatic ECN Tuning for High-Speed Datacenter Networks", SIGCOMM 2021; the steps as remembered in
the facts sheet (6.5): D = 1 - n / 10 for E(n - 1) <= queue < E(n).
"""

from __future__ import annotations

import numpy as np

from testbed.base.arrays import Floats
from testbed.tuner import Ports, PortSample

from ..learned.grid import exponential

STEPS = exponential(20e3, 10)
SHORT = 1 - np.arange(len(STEPS) + 1) / len(STEPS)  # D


def reward(sample: PortSample, ports: Ports, weights: tuple[float, float]) -> Floats:
    """In [0, 1], one per row."""
    used = np.minimum(sample.tx_rate / ports.rate, 1.0)
    return np.asarray(weights[0] * used + weights[1] * SHORT[STEPS.searchsorted(sample.mean_queue, side="right")])
