"""Whether a run was at rest in its window, or still on its way somewhere, and who got next to nothing.

The window is cut into `BLOCKS` parts. What rises or falls from block to block more than chance would have it (Mann and
Kendall's test, `ERROR`), and by more than matters, drifts. An oscillation that is short beside the window does not.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np

from testbed.base.arrays import Floats
from testbed.results.figures.spans import Window, at
from testbed.results.record import RunRecord
from testbed.units import rounded, show_rate, show_size

BLOCKS = 16
ERROR = 0.001  # how often independent blocks of a series at rest would be called a drift
Z = 3.2905  # of the normal distribution, both sides
THROUGHPUT, QUEUE, RATE = 0.02, 0.2, 0.05  # least drift: of the link, of the mean queue, of the mean rate
PACKETS = 4  # of queue, which is no drift either
STARVED = 0.1  # of an equal share


def drifts(blocks: Floats) -> float:
    """From the first quarter's mean to the last one's; 0 for a series that only fluctuates, or is not known."""
    n = len(blocks)
    if not np.isfinite(blocks).all() or n < 8:
        return 0.0
    pairs = np.sign(blocks[None, :] - blocks[:, None])[np.triu_indices(n, 1)].sum()
    if (abs(pairs) - 1) / math.sqrt(n * (n - 1) * (2 * n + 5) / 18) < Z:
        return 0.0
    quarter = n // 4
    return float(blocks[-quarter:].mean() - blocks[:quarter].mean())


def unrest(record: RunRecord, span: Window) -> str:
    """What drifts in the window, with how much; empty for a run at rest."""
    return ", ".join(_drifting(record, span))


def _drifting(record: RunRecord, span: Window) -> Iterator[str]:
    ports, one = record.port_series, record.bottleneck
    edges = np.linspace(span.start, span.end, BLOCKS + 1)
    length = span.length / BLOCKS
    if span.length <= 0 or np.count_nonzero((ports.time >= span.start) & (ports.time <= span.end)) <= BLOCKS:
        return
    line, queued = float(record.port_rate[one]), _growth(ports.time, ports.queue_area[:, one], edges) / length
    sent = 8 * _growth(ports.time, ports.tx_bytes[:, one], edges) / length
    yield from _told("throughput of the bottleneck", sent, THROUGHPUT * line, show_rate)
    yield from _told("its queue", queued, max(QUEUE * queued.mean(), PACKETS * record.wire_size), show_size)
    endless = np.isinf(record.flows.size[record.series_flows])  # the others come and go
    allowed = _means(record.flow_series.time, record.flow_series.rate[:, endless].sum(axis=1), edges)
    yield from _told("what the controllers allow", allowed, RATE * allowed.mean(), show_rate)


def _told(what: str, blocks: Floats, least: float, show: Callable[[float], str]) -> Iterator[str]:
    if abs(drifts(blocks)) > least:
        first, last = (rounded(part.mean(), 3) for part in (blocks[: BLOCKS // 4], blocks[-BLOCKS // 4 :]))
        yield f"{what} {'rises' if last > first else 'falls'} from {show(first)} to {show(last)}"


def _growth(time: Floats, counter: Floats, edges: Floats) -> Floats:
    return np.diff([at(time, counter[:, None], edge)[0] for edge in edges.tolist()])


def _means(time: Floats, values: Floats, edges: Floats) -> Floats:
    block = np.searchsorted(edges, time, side="right") - 1
    kept = (block >= 0) & (block < BLOCKS)
    counts = np.bincount(block[kept], minlength=BLOCKS)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.bincount(block[kept], values[kept], BLOCKS) / counts)


def starved(rates: Floats) -> int:
    """How many flows got less than a tenth of what all of these got on average."""
    return int((rates < STARVED * rates.mean()).sum()) if len(rates) else 0
