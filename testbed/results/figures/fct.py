"""Flow completion times of finite flows and their slowdown: in all, of mice and elephants, and by size."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from testbed.base.arrays import Floats
from testbed.results.figures.unknown import NULL_IF_UNKNOWN, Number, mean, quantile
from testbed.results.record import FlowTable, RunRecord

ELEPHANT = 1e6  # bytes: PET calls a flow above it an elephant, one of at most this size a mouse
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
    """Flow completion times of the finite flows of the whole run, s, and their slowdown."""

    finished: int
    unfinished: int  # never begun, or still running at the end: many of these, the slow ones, flatter the times below
    mean: float
    p50: float
    p99: float
    slowdown_mean: float
    slowdown_p50: float
    slowdown_p99: float


def completion(record: RunRecord) -> Completion:
    """FCT from the flow's start to its last acknowledgement, and FCT / ideal FCT (sheet 6.8).

    A slowdown below 1 is clamped to 1, as the field's scripts do: the base RTT already holds the serialisation of one
    packet, so the ideal is that much too long for a flow of a single packet.
    """
    flows = record.flows
    return completion_of(flows.size, flows.start, flows.finished, ideal_fct(record))


def completion_of(size: Floats, start: Floats, finished: Floats, ideal: Floats) -> Completion:
    """`completion` of columns of shape (n,): an endless flow has size inf, one that did not finish has finished nan."""
    finite = np.isfinite(size)
    done = finite & np.isfinite(finished)
    times = (finished - start)[done]
    slowdown = slowdowns(times, ideal[done])
    return Completion(
        finished=int(done.sum()),
        unfinished=int(finite.sum() - done.sum()),
        mean=mean(times),
        p50=quantile(times, 0.5),
        p99=quantile(times, 0.99),
        slowdown_mean=mean(slowdown),
        slowdown_p50=quantile(slowdown, 0.5),
        slowdown_p99=quantile(slowdown, 0.99),
    )


def slowdowns(times: Floats, ideal: Floats) -> Floats:
    """FCT / ideal FCT, at least 1; nan where the flow did not finish."""
    return np.asarray(np.maximum(times / ideal, 1.0))


def completion_by_class(record: RunRecord, elephant: float = ELEPHANT) -> tuple[Completion, Completion]:
    """`completion` of the mice, up to ``elephant`` bytes, and of the larger ones (PET, sections 4 and 5.5)."""
    flows, ideal = record.flows, ideal_fct(record)
    mice = flows.size <= elephant
    small, large = (
        completion_of(flows.size[kept], flows.start[kept], flows.finished[kept], ideal[kept]) for kept in (mice, ~mice)
    )
    return small, large


@dataclass(frozen=True)
class SizeBin:
    """The slowdown of the finished flows of neighbouring sizes."""

    __pydantic_config__ = NULL_IF_UNKNOWN

    largest: Number  # bytes, inclusive: of the flows if the bin is a share of them, else the bin's upper end
    flows: int
    mean: Number
    p50: Number
    p99: Number


def slowdown_by_decade(record: RunRecord) -> list[SizeBin]:
    """Bins up to 1 kB, 10 kB, ... 1 GB, the last one without an end; empty bins are left out."""
    size, slowdown = _slowdowns(record)
    which = np.searchsorted(DECADES, size, side="left")
    ends = [*DECADES.tolist(), float("inf")]
    return [_bin(ends[number], slowdown[which == number]) for number in np.unique(which).tolist()]


def slowdown_by_share(record: RunRecord, parts: int = PARTS) -> list[SizeBin]:
    """``parts`` bins with equally many flows, from the smallest to the largest; none for fewer flows than bins.

    Trap: flows of one size may lie in two bins; they are taken in the order of their numbers.
    """
    size, slowdown = _slowdowns(record)
    if len(size) < parts:
        return []
    order = np.argsort(size, kind="stable")
    return [_bin(float(size[part[-1]]), slowdown[part]) for part in np.array_split(order, parts)]


def _slowdowns(record: RunRecord) -> tuple[Floats, Floats]:
    """Size, bytes, and clamped slowdown of the finite flows that finished."""
    flows = record.flows
    done = np.isfinite(flows.size) & np.isfinite(flows.finished)
    times = (flows.finished - flows.start)[done]
    return flows.size[done], np.maximum(times / ideal_fct(record)[done], 1.0)


def _bin(largest: float, slowdown: Floats) -> SizeBin:
    return SizeBin(largest, len(slowdown), mean(slowdown), quantile(slowdown, 0.5), quantile(slowdown, 0.99))
