"""Curves of the flows: each for itself, or many as bands of their quantiles, with single ones on demand."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from testbed.base.arrays import Floats, Ints
from testbed.results.record import Measured
from testbed.results.report.plot import Line, curves, evenly, growth_rate, ms
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


def fairness(record: Measured, kept: Ints) -> tuple[Floats, Floats]:
    """Middles of the intervals between these samples, and in each Jain's index of the flows' goodput.

    Only flows that were there from an interval's start to its end can be compared; nan where there is none.
    """
    series, flows = record.flow_series, record.series_flows
    time, rates = growth_rate(series.time[kept], series.acked_bytes[kept])
    begin, end = series.time[kept][:-1, None], series.time[kept][1:, None]
    there = (record.flows.start[flows] <= begin) & ~(record.flows.finished[flows] < end)  # nan: not at all
    rates = np.where(there, rates, 0.0)
    squares = there.sum(axis=1) * (rates**2).sum(axis=1)
    return time, np.divide(rates.sum(axis=1) ** 2, squares, out=np.full(len(time), np.nan), where=squares > 0)


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
