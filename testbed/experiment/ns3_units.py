"""Quantities as ns-3 writes them: ``100Gbps``, ``25000000000.0`` (bit/s), ``0.001ms``, ``1us``."""

from __future__ import annotations

import math
import re

from testbed.units import TIME_UNITS

QUANTITY = re.compile(r"([0-9.]+(?:[eE][+-]?\d+)?)([A-Za-z/]*)")
PREFIXES = {"": 1.0, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
RATES = {f"{prefix}{unit}": factor for prefix, factor in PREFIXES.items() for unit in ("bps", "b/s")} | {"": 1.0}
TIMES = {key: TIME_UNITS[key] for key in ("ns", "us", "ms", "s")} | {"": 1.0}


def rate(text: str) -> float:
    """Bit/s; nan for what is none."""
    return _quantity(text, RATES)


def seconds(text: str) -> float:
    """Seconds; nan for what is none."""
    return _quantity(text, TIMES)


def _quantity(text: str, units: dict[str, float]) -> float:
    found = QUANTITY.fullmatch(text)
    try:
        return float(found[1]) * units[found[2]] if found else math.nan
    except (ValueError, KeyError):
        return math.nan
