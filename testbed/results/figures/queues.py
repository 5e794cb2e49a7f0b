"""What the queues of the bottleneck did, where its switch has several per port."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from testbed.results.figures.registry import Direction, Figure
from testbed.results.figures.spans import Window, growth
from testbed.results.figures.unknown import NULL_IF_UNKNOWN, Number, ratio
from testbed.results.record import RunRecord


@dataclass(frozen=True)
class QueueFigures:
    """One queue, in the window."""

    __pydantic_config__ = NULL_IF_UNKNOWN

    queue: int
    classes: str  # that wait there
    share: Number  # %, of the port's rate
    mean: Number  # B, over time
    peak: Number  # B, highest since the run began
    packets: Number  # that joined it
    marked: Number  # packets
    dropped: Number  # packets


COMPARED: dict[str, tuple[str, str, Direction]] = {  # field to how it is told
    "share": ("%", "of the line", ""),
    "mean": ("B", "mean", "lower"),
    "peak": ("B", "peak", "lower"),
    "marked": ("packets", "marked", ""),
    "dropped": ("packets", "dropped", "lower"),
}


def compared(queues: Iterable[QueueFigures]) -> dict[str, Figure]:
    """What runs are compared by, for every queue that one of them has; ``q3.mean`` names the mean of queue 3."""
    rows = {one.queue: f"q{one.queue} {one.classes}" for one in queues}
    return {
        f"q{number}.{name}": Figure("", unit, lambda _: None, row, word, better, seldom=True, name=f"q{number}.{name}")
        for number, row in sorted(rows.items())
        for name, (unit, word, better) in COMPARED.items()
    }


def value_of(queues: Sequence[QueueFigures], figure: str) -> float:
    """Of one of `compared`; nan where there is no such queue."""
    number, _, name = figure.partition(".")
    return next((float(getattr(one, name)) for one in queues if number == f"q{one.queue}"), float("nan"))


def of_bottleneck(record: RunRecord, window: Window) -> list[QueueFigures]:
    """By number; nothing where a port is one queue."""
    queues = record.queues
    if queues is None or not len(queues.series.time):
        return []
    series = queues.series
    grown = {
        name: growth(series.time, getattr(series, name), window)
        for name in ("tx_bytes", "tx_packets", "queue_area", "marked_packets", "dropped_packets")
    }
    rate = float(record.port_rate[record.bottleneck])
    return [
        QueueFigures(
            queue=int(queues.number[row]),
            classes=queues.classes[row],
            share=100 * ratio(8 * float(grown["tx_bytes"][row]), rate * window.length),
            mean=ratio(float(grown["queue_area"][row]), window.length),
            peak=float(series.peak_queue[-1, row]),
            packets=float(grown["tx_packets"][row]),
            marked=float(grown["marked_packets"][row]),
            dropped=float(grown["dropped_packets"][row]),
        )
        for row in np.flatnonzero(queues.port == record.bottleneck).tolist()
    ]
