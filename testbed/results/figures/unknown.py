"""Arithmetic whose result is nan where a figure cannot be known: nothing was sent, no flow was there."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from pydantic import BeforeValidator, ConfigDict

from testbed.base.arrays import Floats

NAN = float("nan")


def _unknown(value: object) -> object:
    return NAN if value is None else value


Number = Annotated[float, BeforeValidator(_unknown)]
"""A number that may be nan inside and is null in JSON, which has no nan."""
NULL_IF_UNKNOWN = ConfigDict(frozen=True, ser_json_inf_nan="null")


def ratio(part: float, whole: float) -> float:
    """A quotient; nan if there is no whole."""
    return part / whole if whole > 0 else NAN


def mean(values: Floats) -> float:
    """The mean; nan of nothing."""
    return float(values.mean()) if len(values) else NAN


def quantile(values: Floats, q: float) -> float:
    """What a share ``q`` of the values does not exceed, linear between values; nan of nothing."""
    return float(np.quantile(values, q)) if len(values) else NAN
