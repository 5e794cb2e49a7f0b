"""Numbers at an axis: round ones, and with as many digits as it takes to tell them apart."""

from __future__ import annotations

import math

EXACT = 1e-6  # of a step


def ticks(low: float, high: float, most: int) -> dict[str, float]:
    """About ``most`` round numbers from ``low`` to ``high``, by their texts."""
    rough = (high - low) / most
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(each * power for each in (1, 2, 5, 10) if each * power >= rough * (1 - EXACT))
    digits = max(0, -math.floor(math.log10(step) + EXACT))
    places = range(math.ceil(low / step - EXACT), math.floor(high / step + EXACT) + 1)
    return {f"{place * step:.{digits}f}" if place else "0": place * step for place in places}
