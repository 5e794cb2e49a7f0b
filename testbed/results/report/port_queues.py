"""The queues of every port as a picture: how deep each was, and what happened in it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from testbed.base.arrays import Floats
from testbed.results import figures
from testbed.results.folder import read_table
from testbed.results.measured import column_of, series_of
from testbed.results.record import Measured, PortSeries
from testbed.results.report.drawing import Drawing
from testbed.results.tables import QUEUE_SERIES, QUEUES

WIDTH, NAMES, ROW, BAR, GAP = 520, 130, 34, 12, 6
TEXT = 13
MOST_PORTS = 16


@dataclass(frozen=True)
class _Depths:
    """Of all queues, in bytes, over the window and in the whole run; counts are of the whole run."""

    mean: Floats
    highest: Floats
    marked: Floats
    dropped: Floats
    paused: Floats  # s

    @classmethod
    def of(cls, measured: Measured, series: PortSeries) -> _Depths:
        span = figures.window(measured)
        mean = figures.growth(series.time, series.queue_area, span) / (span.length or np.nan)
        ends = series.marked_packets[-1], series.dropped_packets[-1], series.paused[-1]
        return cls(
            np.nan_to_num(mean), series.peak_queue.max(axis=0).astype(float), *(one.astype(float) for one in ends)
        )

    def about(self, row: int) -> str:
        """In words."""
        return (
            f"mean {self.mean[row] / 1e3:,.3g} kB, highest {self.highest[row] / 1e3:,.4g} kB; marked "
            f"{self.marked[row]:,.0f}, dropped {self.dropped[row]:,.0f} packets; held {self.paused[row] * 1e6:,.4g} us"
        )

    def letters(self, row: int) -> str:
        """What happened at all."""
        seen = {"M": self.marked[row], "D": self.dropped[row], "P": self.paused[row]}
        return " ".join(letter for letter, much in seen.items() if much)


def port_queues(run: Path, measured: Measured) -> str:
    """An SVG element; empty where a port is one queue. Raises BadInput."""
    if not ((run / QUEUES).is_file() and (run / QUEUE_SERIES).is_file()):
        return ""
    about = read_table(run / QUEUES)
    _, series = series_of(read_table(run / QUEUE_SERIES), "queue_of", PortSeries)
    ports, numbers, classes = (column_of(about, name) for name in ("port", "number", "classes"))
    return _draw(measured, ports, list(map(int, numbers)), classes, _Depths.of(measured, series))


def _draw(measured: Measured, ports: list[str], numbers: list[int], classes: list[str], depths: _Depths) -> str:
    columns = sorted({*numbers})
    deepest = dict.fromkeys(ports, 0.0)
    for port, depth in zip(ports, depths.highest.tolist(), strict=True):
        deepest[port] = max(deepest[port], depth)
    shown = sorted(deepest, key=lambda port: -deepest[port])[:MOST_PORTS]
    most, cell = max(*deepest.values(), 1.0), (WIDTH - NAMES) / len(columns)
    drawing = Drawing(WIDTH)
    for number in columns:
        drawing.text((NAMES + columns.index(number) * cell, TEXT), f"q{number}", "muted")
    for place, port in enumerate(shown):
        y = TEXT + GAP + place * ROW
        peer = measured.port_neighbour[measured.ports.index(port)]
        drawing.text((0, y + BAR), f"{port} to {peer}", bold=port == measured.ports[measured.bottleneck])
        for row in (row for row, here in enumerate(ports) if here == port):
            x, wide = NAMES + columns.index(numbers[row]) * cell, cell - GAP
            title = f"{port} q{numbers[row]} {classes[row]}: {depths.about(row)}"
            colour = "u5" if depths.dropped[row] else "u3"
            drawing.box((x, y, wide, BAR), "panel", "faint", title=title)
            drawing.box((x, y, wide * depths.highest[row] / most, BAR), "u1", title=title)
            drawing.box((x, y, wide * depths.mean[row] / most, BAR), colour, title=title)
            drawing.text((x, y + BAR + TEXT), depths.letters(row), "muted")
    height = TEXT + GAP + len(shown) * ROW + TEXT
    kept = f"the {len(shown)} ports of {len(deepest)} with the deepest queues; " if len(shown) < len(deepest) else ""
    drawing.text((0, height - 2), f"{kept}a full bar is {most / 1e3:,.4g} kB", "muted")
    return drawing.svg(height + GAP, f"Queues of {len(shown)} ports")
