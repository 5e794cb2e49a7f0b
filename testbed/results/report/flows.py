"""Curves of the flows: each for itself, or many as bands of their quantiles, with single ones on demand."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from testbed.base.arrays import Floats
from testbed.results.record import Measured
from testbed.results.report.plot import Line, curves, evenly, ms
from testbed.results.tables import series_names

MOST_CURVES = 16  # more flows are bands
MOST_ON_DEMAND = 64  # an even choice of them
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


def active(record: Measured, begin: Floats, end: Floats) -> NDArray[np.bool_]:
    """Which flows with series were there at some time between ``begin`` and ``end``, s; shape (len(begin), n)."""
    flows = record.series_flows
    start, finished = record.flows.start[flows], record.flows.finished[flows]  # nan: never
    return np.asarray((start <= end[:, None]) & ~(finished < begin[:, None]))


def flow_curves(record: Measured, time: Floats, values: Floats, there: NDArray[np.bool_]) -> list[Line]:
    """Lines of ``values``, shape (t, n), over ``time``, s; the bands are of those that were ``there``, same shape."""
    names, at = series_names(record), ms(time)
    if len(names) <= MOST_CURVES:
        return curves(at, values, names)
    low, quarter, middle, three_quarters, high = _quantiles(np.where(there, values, np.nan))
    bands = [
        Line(at, high, "5 to 95 %", "band1", low=low),
        Line(at, three_quarters, "quartiles", "band2", low=quarter),
        Line(at, middle, "median", "accent"),
    ]
    single = (Line(at, values[:, i], names[i], "c1", listed=False, on_demand=True) for i in _choice(len(names)))
    return [*bands, *single]


def about(record: Measured) -> str:
    """What `flow_curves` draws, in words."""
    count, every = len(record.series_flows), len(record.flows)
    of_all = f" ({count} of {every})" if count < every else ""  # record.flows may have kept fewer than there were
    return f"per flow{of_all}" if count <= MOST_CURVES else f"quantiles of {count} flows{of_all}"


def _choice(flows: int) -> list[int]:
    return [int(i) for i in evenly(flows, MOST_ON_DEMAND)]


def _quantiles(values: Floats) -> Floats:
    """`QUANTILES` of each row without its nan; nan where there is nothing else."""
    found = np.full((len(QUANTILES), len(values)), np.nan)
    known = ~np.isnan(values).all(axis=1)
    if known.any():
        found[:, known] = np.nanquantile(values[known], QUANTILES, axis=1)
    return found
