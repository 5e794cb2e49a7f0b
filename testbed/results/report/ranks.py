"""What the ranks of jobs did when, and who sent to whom."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from testbed.base.arrays import Floats, Ints
from testbed.results.folder import read_table
from testbed.results.record import FlowTable, Measured
from testbed.results.report.drawing import Drawing
from testbed.results.report.plot import Axis, Line, Panel, Plot, over_time
from testbed.units import show_size

FINEST = 1 / 2000  # of the run: pauses that are shorter are not seen
MOST_HOSTS = 64  # in the matrix
MOST_NAMES = 16  # beside the timeline
CELL, MARGIN = 10, 26  # of it
Spans = tuple[Floats, Floats, Floats]  # where they are drawn, and from when to when, s
BELOW = 0.3  # ranks: where a rank's messages are drawn


def read(file: Path) -> dict[str, Any]:
    """The columns of `testbed.results.tables.STEPS`."""
    columns: dict[str, list[Any]] = read_table(file).to_pydict()
    return {name: np.array(values) for name, values in columns.items()}


def timeline(steps: dict[str, Any], measured: Measured) -> Plot:
    """When each rank computed, when it had messages on the way, and when it had done its part of an iteration."""
    hosts = list(dict.fromkeys(zip(steps["job"].tolist(), steps["host"].tolist(), strict=True)))
    row = {place: len(hosts) - 1 - number for number, place in enumerate(hosts)}
    y = np.array([row[place] for place in zip(steps["job"].tolist(), steps["host"].tolist(), strict=True)], np.float64)
    computing = (steps["kind"] == "compute") & (steps["length"] > 0) & np.isfinite(steps["begin"])
    done = (steps["kind"] == "done") & np.isfinite(steps["begin"])
    begin, end = steps["begin"], steps["begin"] + steps["length"]
    sending = _messages(measured.flows, row, measured.duration)
    lines = [
        *_bars((y[computing], begin[computing], end[computing]), "computes", "c0", measured.duration, width=7),
        *_bars(sending, "sends", "c1", measured.duration, width=3),
        *_dots(y[done], begin[done]),
    ]
    several = len({job for job, _ in hosts}) > 1
    ticks = {f"{job} {host}" if several else host: float(row[job, host]) for job, host in reversed(hosts)}
    some = dict(list(ticks.items())[:: -(-len(ticks) // MOST_NAMES)])
    axis = Axis(low=-0.8, high=len(hosts) - 0.2, ticks=some)
    note = "per rank: computing (thick), messages on their way from it (thin), the end of its iteration (dot)"
    return Plot("Ranks", note, [Panel(lines, axis)], over_time(measured.duration, measured.warmup), "ranks")


def _dots(y: Floats, at: Floats) -> list[Line]:
    found: list[Line] = []
    for one in np.unique(y).tolist():
        x = 1e3 * np.sort(at[y == one])
        found.append(
            Line(x, np.full(len(x), one), "iteration done", "ink", width=0, symbol="circle", size=5, listed=not found)
        )
    return found


def _messages(flows: FlowTable, row: dict[tuple[str, str], int], duration: float) -> Spans:
    known = [row.get(place, -1) for place in zip(flows.label, flows.src, strict=True)]
    place = np.array(known, np.float64)
    own = (place >= 0) & (flows.start < duration)
    end = np.where(np.isnan(flows.finished), duration, flows.finished)
    return place[own] - BELOW, flows.start[own], end[own]


def _bars(spans: Spans, name: str, colour: str, duration: float, *, width: float) -> list[Line]:
    """Spans as a line per rank, with gaps; those that overlap, or nearly, are one."""
    found: list[Line] = []
    for y in np.unique(spans[0]).tolist():
        begin, end = (one[spans[0] == y] for one in spans[1:])
        order = np.argsort(begin, kind="stable")
        begin, until = begin[order], np.maximum.accumulate(end[order])
        first = np.flatnonzero(np.append(True, begin[1:] > until[:-1] + FINEST * duration))
        last = np.append(first[1:], len(begin)) - 1
        x = np.stack((1e3 * begin[first], 1e3 * until[last], 1e3 * until[last]), axis=1).ravel()
        drawn = np.tile([y, y, np.nan], len(first))
        found.append(Line(x, drawn, name, colour, width=width, listed=not found, group=name))
    return found


def matrix(senders: Sequence[str], receivers: Sequence[str], sizes: Floats) -> str:
    """Who sends to whom, as an SVG element: a row per sender, a column per receiver, dots as large as the bytes."""
    hosts = sorted({*senders, *receivers}, key=lambda name: int(name[1:]))
    if len(hosts) > MOST_HOSTS:
        return ""
    number = {host: place for place, host in enumerate(hosts)}
    src, dst = (np.array([number[name] for name in names], np.int64) for names in (senders, receivers))
    sent = np.zeros((len(hosts), len(hosts)))
    np.add.at(sent, (src, dst), np.where(np.isfinite(sizes), sizes, 0.0))
    drawing = Drawing(2 * MARGIN + CELL * len(hosts))
    for host, place in number.items():
        at = MARGIN + (place + 0.5) * CELL
        if len(hosts) <= 16 or place % 4 == 0:
            drawing.text((MARGIN - 6, at + 3), host, "muted", anchor="end")
            drawing.text((at, MARGIN - 6), host[1:], "muted", anchor="middle")
    side = CELL * len(hosts)
    drawing.box((MARGIN, MARGIN, side, side), outline="rule", radius=0)
    largest = sent.max()
    for one, other in _filled(sent):
        radius = CELL / 2 * float(np.sqrt(sent[one, other] / largest))
        centre = MARGIN + (other + 0.5) * CELL, MARGIN + (one + 0.5) * CELL
        drawing.dot(centre, radius, "accent", title=f"{hosts[one]} to {hosts[other]}: {show_size(sent[one, other])}")
    return drawing.svg(2 * MARGIN + side, "who sends to whom", 7)


def _filled(sent: Floats) -> list[tuple[int, int]]:
    found: Ints = np.argwhere(sent > 0)
    return [(int(one), int(other)) for one, other in found]
