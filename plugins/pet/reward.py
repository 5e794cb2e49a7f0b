"""PET's reward: link utilisation and a short queue (Cheng et al., section 4.2.3, equations 6 to 8).

The printed 1 / queue has no unit and no bound; here it is 1 / (1 + queue / reference), which is 1 for an empty queue.
"""

from __future__ import annotations

import numpy as np

from testbed.base.arrays import Floats
from testbed.tuner import Ports, PortSample

REFERENCE = 20e3  # bytes: E(0)


def reward(sample: PortSample, ports: Ports, weights: tuple[float, float], reference: float = REFERENCE) -> Floats:
    """In [0, 1], one per row; rows of one port share theirs, of the port's rate and the sum of its queues."""
    used, queue = (_of_port(one, ports) for one in (sample.tx_rate, sample.mean_queue))
    return np.asarray(weights[0] * np.minimum(used / ports.rate, 1.0) + weights[1] / (1 + queue / reference))


def _of_port(column: Floats, ports: Ports) -> Floats:
    """The sum over a port's queues, for each of them."""
    return column if ports.one_queue_each else np.asarray(np.bincount(ports.port, column)[ports.port], float)
