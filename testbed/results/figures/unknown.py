"""Arithmetic whose result is nan where a figure cannot be known: nothing was sent, no flow was there."""

from __future__ import annotations

import numpy as np

from testbed.base.arrays import Floats

NAN = float("nan")


def ratio(part: float, whole: float) -> float:
    """A quotient; nan if there is no whole."""
    return part / whole if whole > 0 else NAN


def mean(values: Floats) -> float:
    """The mean; nan of nothing."""
    return float(values.mean()) if len(values) else NAN


def quantile(values: Floats, q: float) -> float:
    """What a share ``q`` of the values does not exceed, linear between values; nan of nothing."""
    return float(np.quantile(values, q)) if len(values) else NAN
