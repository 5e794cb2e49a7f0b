"""Flows from `flow.txt` of the simulators that descend from HPCC's: a line with their number, and one for each.

    2
    0 5 3 100 200000 2.0
    1 5 3 100 200000 2.0

These are source, destination, priority, destination port, bytes and start (s); ConWeave's have no port. The
simulators begin at 2 s or so; here the first flow starts at 0.
"""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import numpy as np

from testbed.experiment.lines import Line, first, lines
from testbed.experiment.topology.any_rack import MOST_HOSTS, MOST_SWITCHES
from testbed.experiment.traffic.numbered import NumberedFlows

MOST = 1 << 20  # the virtual engine's
NODES = MOST_HOSTS + MOST_SWITCHES - 1
FLOW = "a flow: source, destination, priority, port (may be missing), bytes, start in s"
BYTES_AT = {5: 3, 6: 4}  # by the number of words


def is_one(begin: Line) -> bool:
    """Whether a file that begins so is one of these."""
    return len(begin.words) == 1 and begin.words[0].lstrip("-").isdecimal()


def read(file: Path) -> NumberedFlows:
    """Raises ValueError with the line, or OSError."""
    found = lines(file)
    head = next(found)
    count = head.whole(0, "the number of flows", 1, MOST)
    rows = [_flow(line) for line in islice(found, count)]
    if len(rows) < count:
        head.refuse(f"as many flows as it says, but there are {len(rows):,}")
    src, dst, size, start, at = (np.array(column) for column in zip(*rows, strict=True))
    begin = float(start.min())
    notes = [f"the first flow starts at 0, there at {begin:g} s"] * (begin > 0)
    if rest := next(found, None):  # the simulators do not read it either
        notes.append(f"without what follows its {count:,} flows, from line {rest.number} on")
    return NumberedFlows("flows of the HPCC family", file, src, dst, np.maximum(size, 1.0), start - begin, at,
                         notes=tuple(notes))  # fmt: skip


def begin_of(file: Path) -> float:
    """When the first flow starts there, s; 0 for other files."""
    if not is_one(first(file)):
        return 0.0
    return min(
        _flow(line)[3] for line in islice(lines(file), 1, 1 + first(file).whole(0, "the number of flows", 1, MOST))
    )


def _flow(line: Line) -> tuple[int, int, float, float, int]:
    at = BYTES_AT.get(len(line.words), 0)
    if not at:
        line.refuse(FLOW)
    src, dst = line.whole(0, "a node", 0, NODES), line.whole(1, "a node", 0, NODES)
    size = line.whole(at, "bytes", 0, 1 << 53)
    try:
        start = float(line.words[at + 1])
    except ValueError:
        start = -1.0
    if not 0 <= start < 1e9:
        line.refuse(f"a start in seconds as word {at + 2}")
    return src, dst, float(size), start, line.number
