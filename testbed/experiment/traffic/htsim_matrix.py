"""Flows from connection matrices of htsim (`.cm`; github.com/Broadcom/csg-htsim, `sim/datacenter`).

    Nodes 4
    Connections 3
    Triggers 1
    0->1 id 1 start 0 size 2000000 send_done_trigger 1
    2->1 id 2 start 0 size 2000000 send_done_trigger 1
    1->3 id 3 trigger 1 size 2000000
    trigger id 1 barrier count 2

Starts are picoseconds, a size of 0 is endless. A trigger starts its flows when the one flow that sets it off has been
received, or all those of a barrier. Messages of one connection (`msg`) are flows of their own.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from testbed.experiment.lines import Line, lines
from testbed.experiment.topology.any_rack import MOST_HOSTS
from testbed.experiment.traffic.numbered import NumberedFlows
from testbed.experiment.traffic.tasks import Kind, Steps, Tasks

MOST = 1 << 20  # flows of the virtual engine
DIGITS = 10
HEADER = ("Nodes", "Connections", "Triggers", "Failures")
KEYS = ("id", "start", "size", "trigger", "send_done_trigger", "recv_done_trigger", "prio")
KINDS = ("oneshot", "multishot", "barrier")
CONNECTION = f"a connection: SRC->DST, then pairs of {', '.join(KEYS)} and a number, or msg"


def is_one(first: Line) -> bool:
    """Whether a file that begins so is one of these."""
    return len(first.words) == 2 and first.words[0] in {"Nodes", "Connections"}


@dataclass(frozen=True)
class _Trigger:
    line: Line
    count: int  # of a barrier, else 0


@dataclass
class _Matrix:
    """What has been read so far."""

    header: dict[str, int] = field(default_factory=dict)
    rows: list[tuple[int, int, int, float, int]] = field(default_factory=list)  # src, dst, size, start, line
    fires: dict[int, list[int]] = field(default_factory=lambda: defaultdict(list))  # flows that set a trigger off
    starts: dict[int, list[int]] = field(default_factory=lambda: defaultdict(list))  # flows that it starts
    asked: dict[int, Line] = field(default_factory=dict)  # where a flow first names a trigger
    triggers: dict[int, _Trigger] = field(default_factory=dict)
    failures: int = 0
    ranked: bool = False  # some have a prio

    def add(self, line: Line) -> None:
        """One line."""
        begin = line.words[0]
        if "->" in begin:
            self._connection(line)
        elif begin == "trigger":
            self._trigger(line)
        elif begin == "failure":
            self.failures += 1
        elif begin in HEADER and len(line.words) == 2 and begin not in self.header and not self.rows:
            most = MOST_HOSTS if begin == "Nodes" else MOST
            self.header[begin] = line.whole(1, f"the number of {begin}", int(begin in HEADER[:2]), most)
        else:
            line.refuse(f"SRC->DST ..., trigger ..., failure ..., or once and first of all {', '.join(HEADER)}")

    def _connection(self, line: Line) -> None:
        if len(self.rows) == self.header.get("Connections", MOST):
            line.refuse(f"no more than the {len(self.rows):,} connections that it says")
        nodes = self.header.get("Nodes", MOST_HOSTS)
        begin, _, end = line.words[0].partition("->")
        known = begin.isdecimal() and end.isdecimal() and len(begin) < DIGITS and len(end) < DIGITS
        src, dst = (int(begin), int(end)) if known else (nodes, nodes)
        if max(src, dst) >= nodes:
            line.refuse(f"SRC->DST, nodes from 0 to {nodes - 1:,}")
        said = self._pairs(line)
        if ("start" in said) == ("trigger" in said):
            line.refuse("either a start or a trigger")
        if "size" not in said:
            line.refuse("a size in bytes")
        flow = len(self.rows)
        self.ranked |= "prio" in said
        for key in ("send_done_trigger", "recv_done_trigger"):
            if said.get(key):
                self.fires[int(said[key])].append(flow)
        if "trigger" in said:
            self.starts[int(said["trigger"])].append(flow)
            self.asked.setdefault(int(said["trigger"]), line)
        self.rows.append((src, dst, int(said["size"]), said.get("start", 0.0) * 1e-12, line.number))

    @staticmethod
    def _pairs(line: Line) -> dict[str, float]:
        said: dict[str, float] = {}
        words, at = line.words, 1
        while at < len(words):
            key = words[at]
            if key == "msg":
                at += 2 if at + 1 < len(words) and words[at + 1].isdecimal() else 1
                continue
            value = words[at + 1] if at + 1 < len(words) else ""
            try:
                number = float(value) if key == "start" else float(int(value))
            except (ValueError, OverflowError):
                number = -1.0
            if key not in KEYS or key in said or not 0 <= number < 1 << 53:
                line.refuse(CONNECTION)
            said[key] = number
            at += 2
        return said

    def _trigger(self, line: Line) -> None:
        words = line.words
        at = {word: place for place, word in enumerate(words)}
        kind = next((one for one in KINDS if one in at), "")
        if "id" not in at or not kind or len(words) != (6 if "count" in at else 4):
            line.refuse(f"trigger id N, and {', '.join(KINDS[:2])} or {KINDS[2]} count N")
        number = line.whole(at["id"] + 1, "a trigger's number", 1)
        count = line.whole(at["count"] + 1, "a count", 1) if "count" in at else 0
        if (kind == "barrier") != bool(count):
            line.refuse("a count for a barrier, and for no other kind")
        if number in self.triggers:
            line.refuse(f"trigger {number} once; it is in line {self.triggers[number].line.number} already")
        self.triggers[number] = _Trigger(line, count)

    def tasks(self) -> Tasks:
        """Who waits for whom: flows wait for a step per trigger, and that for the flows that set it off."""
        edges: list[tuple[int, int]] = []
        for step, (number, flows) in enumerate(self.starts.items(), start=1):
            fired, place = self.fires.get(number, []), self.asked[number]
            if number not in self.triggers:
                place.refuse(f"a line for trigger {number}")
            trigger = self.triggers[number]
            if not fired:
                place.refuse(f"a flow with send_done_trigger or recv_done_trigger {number}")
            if len(fired) != (trigger.count or 1):
                trigger.line.refuse(f"as many flows as set it off, {len(fired)}: a barrier of that count, or one flow")
            edges += [(flow, -step) for flow in fired] + [(-step, flow) for flow in flows]
        return Tasks(Steps.of(len(self.starts), Kind.JOIN), np.array(edges, np.int64).reshape(-1, 2))

    def notes(self) -> list[str]:
        """What is not as there."""
        found = ["a trigger goes off when messages have been received"] * bool(self.starts)
        found += ["without its priorities"] * self.ranked
        return found + [f"without its {self.failures} failures; see events"] * bool(self.failures)


def read(file: Path) -> NumberedFlows:
    """Raises ValueError with the line, or OSError."""
    matrix = _Matrix()
    line = Line(file, 1, [])
    for line in lines(file):
        matrix.add(line)
    said = matrix.header.get("Connections")
    if not matrix.rows or said not in {None, len(matrix.rows)}:
        line.refuse(f"as many connections as it says, {said or 1:,}, but there are {len(matrix.rows):,}")
    src, dst, size, start, at = (np.array(column) for column in zip(*matrix.rows, strict=True))
    sizes = np.where(size > 0, size, np.inf)
    form = "a connection matrix of htsim"
    return NumberedFlows(form, file, src, dst, sizes, start, at, matrix.tasks(), tuple(matrix.notes()))
