"""What DECC sees and what it does: five numbers per monitoring period, and the factor on the window.

State, action and 0.85 as printed (section 3.1 of the paper). How the state is scaled is not printed: shares of the path
(line rate, BDP, base RTT), logarithms of what spans decades, a root of the queueing delay, so that flows at 1/64 of the
link can still be told from those at 1/8192. Every form of the policy and the training's environment use these.
"""

from __future__ import annotations

import math

import numpy as np

from testbed.base.arrays import Floats

SEEN = 5  # numbers per monitoring period
HISTORY = 5  # periods
FEATURES = SEEN * HISTORY
ALPHA = 0.85  # of the action
MOST_ACTION = 0.5
PER_DECADE = 0.5 / math.log(10)
LEAST_SHARE = 1e-4  # less looks alike
MOST_DELAY = 8.0  # base RTTs of queueing; more looks alike
MOST_WINDOW = 3.0  # BDP


def decades(share: float) -> float:
    """A share of the path, from -1.5 at 1e-4 to 0.5 at 1."""
    return 0.5 + PER_DECADE * math.log(max(share, LEAST_SHARE))


def delay(inflation: float) -> float:
    """RTT over base RTT, as its root above 1."""
    return math.sqrt(min(max(inflation - 1.0, 0.0), MOST_DELAY))


def factor(action: float) -> float:
    """On the window, for an action from -0.5 to 0.5 (the paper's equation 2): 0.70 to 1.43."""
    return 1.0 + ALPHA * action if action >= 0 else 1.0 / (1.0 - ALPHA * action)


def observed(thr: Floats, inflation: Floats, loss: Floats, window: Floats, rate: Floats) -> Floats:
    """One period of many flows as the columns above have it, shape (..., 5); rates are shares, windows in BDP."""
    logs = [0.5 + PER_DECADE * np.log(np.maximum(one, LEAST_SHARE)) for one in (thr, window, rate)]
    root = np.sqrt(np.clip(inflation - 1.0, 0.0, MOST_DELAY))
    return np.stack((logs[0], root, np.minimum(loss, 1.0), logs[1], logs[2]), axis=-1)


def factors(action: Floats) -> Floats:
    """`factor` of many."""
    return np.where(action >= 0, 1.0 + ALPHA * action, 1.0 / (1.0 - ALPHA * np.minimum(action, 0.0)))
