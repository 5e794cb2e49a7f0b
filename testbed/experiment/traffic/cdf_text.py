"""Distributions of flow sizes as text: a point per line.

    0      0          1  1  0.5
    10000  15         2  1  0.6
    ...               ...
    30000  100        667 1 1

Two columns are size and share of the flows that are not larger, in percent or as a fraction: the last one, 100 or 1,
tells which. Three are the form of ns-2's scripts, sizes in packets of 1460 B.
"""

from __future__ import annotations

import math
from pathlib import Path

from testbed.experiment.lines import Line, lines

PACKET = 1460.0  # bytes, of ns-2's scripts
POINT = "a size, 0 or more, and the share of flows that are not larger, 0 to 100"
WHOLE = (1.0, 100.0)
MOST = 100_000  # points
COLUMNS = (2, 3)


def is_one(first: Line) -> bool:
    """Whether a file that begins so is one of these."""
    return len(first.words) in COLUMNS and not any(math.isnan(_number(word)) for word in first.words)


def read(file: Path) -> tuple[list[tuple[float, float]], float]:
    """The points, with shares up to 1, and bytes of their unit. Raises ValueError with the line, or OSError."""
    points: list[tuple[float, float]] = []
    columns, line = 0, Line(file, 1, [])
    for line in lines(file):
        columns = columns or len(line.words)
        size, share = _number(line.words[0]), _number(line.words[-1])
        if len(line.words) != columns or not (0 <= size < math.inf and 0 <= share <= WHOLE[-1]):
            line.refuse(POINT if columns == COLUMNS[0] else "three numbers: a size in packets, any, and a share")
        if points and (size < points[-1][0] or share < points[-1][1]):
            line.refuse("sizes and shares that do not fall from line to line")
        if len(points) == MOST:
            line.refuse(f"at most {MOST:,} points")
        points.append((size, share))
    whole = points[-1][1] if points else 0.0
    if whole not in WHOLE or points[-1][0] == 0:
        line.refuse("a last point with a size, and the share 1 or 100 (percent)")
    return [(size, share / whole) for size, share in points], PACKET if columns == COLUMNS[1] else 1.0


def _number(word: str) -> float:
    try:
        return float(word)
    except ValueError:
        return math.nan
