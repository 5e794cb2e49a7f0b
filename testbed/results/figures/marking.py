"""Which thresholds held at the bottleneck: what options, presets and the tuner's decisions came to there."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from testbed.base.arrays import Floats
from testbed.results.figures.spans import Window
from testbed.results.figures.unknown import NAN, NULL_IF_UNKNOWN, Number
from testbed.results.record import RunRecord
from testbed.units import rounded, show_size


@dataclass(frozen=True)
class Span:
    """The lowest and the highest value; equal where nothing changed it."""

    __pydantic_config__ = NULL_IF_UNKNOWN

    least: Number
    most: Number

    def text(self, show: Callable[[float], str]) -> str:
        """One value, or both."""
        return " to ".join(dict.fromkeys(map(show, (self.least, self.most))))


@dataclass(frozen=True)
class Marking:
    """Thresholds of one port: bytes, bytes, and a share."""

    kmin: Span
    kmax: Span
    pmax: Span

    def __str__(self) -> str:
        if math.isnan(self.kmin.least):
            return ""
        percent = self.pmax.text(lambda share: f"{100 * share:.4g} %")
        return f"Kmin {self.kmin.text(_size)}, Kmax {self.kmax.text(_size)}, Pmax {percent}"


def marking(record: RunRecord, window: Window) -> Marking:
    """Of the bottleneck in the window."""
    series = record.port_series
    inside = (series.time >= window.start) & (series.time <= window.end)
    return Marking(*(_span(column[inside, record.bottleneck]) for column in (series.kmin, series.kmax, series.pmax)))


def _span(values: Floats) -> Span:
    known = values[~np.isnan(values)]
    return Span(float(known.min()), float(known.max())) if len(known) else Span(NAN, NAN)


def _size(value: float) -> str:
    return show_size(rounded(value))
