"""Small networks by hand, and what a trained one should reach."""

from __future__ import annotations

import math

import numpy as np
from testbed_controllers.adpg.network import SHAPES, Network

T = 8.192e-6


def oracle(flows: int) -> float:
    """Facts sheet 4.4: x = 0 at the fair share."""
    return T * (0.5 + 0.064 * math.sqrt(flows))


def network(weights_of: dict[int, float], gain: float) -> Network:
    """tanh(gain * sum of ReLU(weight * feature)), by hand."""
    first, second, last = (np.zeros(shape) for shape in SHAPES)
    for unit, (feature, weight) in enumerate(weights_of.items()):
        first[unit, feature] = weight
        second[unit, unit] = 1.0
        last[0, unit] = gain
    return Network((first, second, last))
