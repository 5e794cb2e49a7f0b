"""What a plugin declares, as gymnasium's spaces."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces

from testbed.learned import Numbers


def box(numbers: Numbers, *before: int) -> Any:  # of float32, which the stubs of Box do not tell
    """Of shape (*before, size)."""
    return spaces.Box(numbers.low, numbers.high, (*before, numbers.size), np.float32)
