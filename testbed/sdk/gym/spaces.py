"""What a plugin declares, as gymnasium's spaces."""

from __future__ import annotations

import numpy as np
from gymnasium import spaces

from testbed.learned import Numbers


def box(numbers: Numbers, *before: int) -> spaces.Box:
    """Of shape (*before, size)."""
    return spaces.Box(numbers.low, numbers.high, (*before, numbers.size), np.float32)
