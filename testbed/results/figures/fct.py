"""Flow completion times of finite flows and their slowdown: in all, of mice and elephants, and by size."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from testbed.base.arrays import Floats
from testbed.results.figures.censored import Censored
from testbed.results.figures.unknown import NULL_IF_UNKNOWN, Number, mean, ratio
from testbed.results.record import FlowTable, RunRecord

ELEPHANT = 1e6  # bytes: PET (sections 4 and 5.5) calls a flow above it an elephant, one of at most this size a mouse
SHORT = 1e4  # bytes: PowerTCP's short flows, and the sizes to which HPCC's curves of slowdown are flat
PARTS = 20  # bins with 5 % of the flows each, as the HPCC repository's script makes (sheet 6.8)
DECADES = 10.0 ** np.arange(3, 10)  # 1 kB ... 1 GB


def ideal_fct(record: RunRecord) -> Floats:
    """Base RTT + (payload + headers) / rate of the slowest link on the flow's way, s (sheet 6.8); inf if endless."""
    return ideal_of(record.flows, record.payload, record.wire_size)


def ideal_of(flows: FlowTable, payload: int, wire_size: int) -> Floats:
    """`ideal_fct` of flows whose full packets have ``payload`` bytes of user data in ``wire_size`` bytes."""
    wire = flows.size + np.ceil(flows.size / payload) * (wire_size - payload)
    return np.asarray(flows.base_rtt + 8 * wire / np.minimum(flows.line_rate, flows.path_rate))


@dataclass(frozen=True)
class Completion:
    """Flow completion times of the finite flows of the whole run, s, and their slowdown.

    Quantiles know that flows which had not finished take longer than they have taken so far; a mean cannot, and is of
    those that finished.
    """

    finished: int
    unfinished: int  # never begun, or still running at the end
    unfinished_bytes: float  # their share of the bytes
    mean: float
    p50: float
    p99: float
    slowdown_mean: float
    slowdown_p50: float
    slowdown_p99: float


def completion(record: RunRecord, kept: NDArray[np.bool_] | None = None) -> Completion:
    """FCT from the flow's start to its last acknowledgement, and FCT / ideal FCT (sheet 6.8); ``kept``: of these flows.

    A slowdown below 1 is clamped to 1, as the field's scripts do: the base RTT already holds the serialisation of one
    packet, so the ideal is that much too long for a flow of a single packet.
    """
    size, times, slowdown, done = _of(record, kept)
    finite = np.isfinite(record.flows.size) & (True if kept is None else kept)
    every, finished = record.flows.size[finite], int(done.sum())
    took, slowed = Censored(times, done), Censored(slowdown, done)
    return Completion(
        finished=finished,
        unfinished=len(every) - finished,
        unfinished_bytes=1 - ratio(float(size[done].sum()), float(every.sum())),
        mean=mean(took.known),
        p50=took.quantile(0.5),
        p99=took.quantile(0.99),
        slowdown_mean=mean(slowed.known),
        slowdown_p50=slowed.quantile(0.5),
        slowdown_p99=slowed.quantile(0.99),
    )


def slowdowns(times: Floats, ideal: Floats) -> Floats:
    """FCT / ideal FCT, at least 1; nan where the flow did not finish."""
    return np.asarray(np.maximum(times / ideal, 1.0))


@dataclass(frozen=True)
class SizeBin:
    """The slowdown of flows of neighbouring sizes; see `Completion`."""

    __pydantic_config__ = NULL_IF_UNKNOWN

    largest: Number  # bytes, inclusive: of the flows if the bin is a share of them, else the bin's upper end
    flows: int  # that finished
    mean: Number
    p50: Number
    p99: Number


def slowdown_by_decade(record: RunRecord) -> list[SizeBin]:
    """Bins up to 1 kB, 10 kB, ... 1 GB, the last one without an end; bins in which no flow finished are left out."""
    size, _, slowdown, done = _of(record)
    which = np.searchsorted(DECADES, size, side="left")
    ends = [*DECADES.tolist(), float("inf")]
    return [
        _bin(ends[number], slowdown[which == number], done[which == number])
        for number in np.unique(which[done]).tolist()
    ]


def slowdown_by_share(record: RunRecord, parts: int = PARTS) -> list[SizeBin]:
    """``parts`` bins with equally many flows, from the smallest to the largest; none for fewer flows than bins.

    Trap: flows of one size may lie in two bins; they are taken in the order of their numbers.
    """
    size, _, slowdown, done = _of(record)
    if len(size) < parts:
        return []
    order = np.argsort(size, kind="stable")
    return [_bin(float(size[part[-1]]), slowdown[part], done[part]) for part in np.array_split(order, parts)]


def _of(record: RunRecord, kept: NDArray[np.bool_] | None = None) -> tuple[Floats, Floats, Floats, NDArray[np.bool_]]:
    """Of finite flows that have begun: size, time and clamped slowdown so far, and whether they have finished."""
    flows = record.flows
    begun = np.isfinite(flows.size) & (flows.start < record.duration) & (True if kept is None else kept)
    done = np.isfinite(flows.finished)
    times = np.where(done, flows.finished, record.duration) - flows.start
    return flows.size[begun], times[begun], slowdowns(times, ideal_fct(record))[begun], done[begun]


def _bin(largest: float, slowdown: Floats, done: NDArray[np.bool_]) -> SizeBin:
    slowed = Censored(slowdown, done)
    return SizeBin(largest, int(done.sum()), mean(slowed.known), slowed.quantile(0.5), slowed.quantile(0.99))
