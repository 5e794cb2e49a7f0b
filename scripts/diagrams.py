#!/usr/bin/env python3
"""Draw the diagrams of docs/pictures: architecture, the life of a packet and of a decision, engines side by side.

They are narrow, so that a phone shows them whole, and follow the reader's dark mode on a ground of their own:

    .venv/bin/python scripts/diagrams.py [FOLDER]
"""

from __future__ import annotations

import sys
from html import escape
from pathlib import Path

FOLDER = Path(__file__).parent.parent / "docs" / "pictures"
WIDTH, LINE, MARGIN = 420, 17, 10
EM = {"name": 7.4, "note": 6.2}  # what a character of each takes at most, on average
STYLE = """
svg { --ground: #fff; --ink: #1b1f24; --faint: #525a64; --line: #6b7480 }
svg { --plain: #eef1f5; --own: #d6e8ff; --shared: #dcf3dd }
@media (prefers-color-scheme: dark) {
svg { --ground: #16191d; --ink: #f0f3f6; --faint: #b4bcc6; --line: #8d96a1 }
svg { --plain: #272c33; --own: #1d3a5c; --shared: #1f4426 }
}
text { font: 12px system-ui, sans-serif; fill: var(--faint); text-anchor: middle }
.name { font-size: 13px; font-weight: 600; fill: var(--ink) }
.ground { fill: var(--ground) } .plain { fill: var(--plain) } .own { fill: var(--own) } .shared { fill: var(--shared) }
.box { stroke: var(--line) } .line { stroke: var(--line); stroke-width: 1.5; fill: none }
.back { stroke-dasharray: 4 3 } marker path { fill: var(--line) }
"""
HEAD = '<marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'


class Diagram:
    """Boxes, arrows and text; the height is that of what was drawn."""

    def __init__(self, title: str) -> None:
        self.title = title
        self.parts: list[str] = []
        self.bottom = 0.0

    def text(self, x: float, y: float, words: str, kind: str = "note", within: float = WIDTH) -> None:
        if len(words) * EM[kind] > within:
            sys.exit(f"{self.title}: {words!r} is longer than the {within:g} that it has")
        self.parts.append(f'<text class="{kind}" x="{x:g}" y="{y:g}">{escape(words)}</text>')

    def box(self, x: float, y: float, wide: float, name: str, *notes: str, kind: str = "plain") -> float:
        """Returns where it ends."""
        high = LINE * (bool(name) + len(notes)) + 8
        place = f'x="{x:g}" y="{y:g}" width="{wide:g}" height="{high:g}" rx="4"'
        self.parts.append(f'<rect class="box {kind}" {place}/>')
        lines = [("name", name)] * bool(name) + [("note", note) for note in notes]
        for at, (look, words) in enumerate(lines):
            self.text(x + wide / 2, y + LINE * (at + 1), words, look, wide - 4)
        self.bottom = max(self.bottom, y + high)
        return y + high

    def line(self, points: list[tuple[float, float]], look: str = "") -> None:
        """With a head at its last point."""
        path = "L".join(f"{x:g} {y:g}" for x, y in points)
        self.parts.append(f'<path class="line {look}" d="M{path}" marker-end="url(#head)"/>')

    def svg(self) -> str:
        size = f'viewBox="0 0 {WIDTH} {self.bottom + MARGIN:g}" width="{WIDTH}" height="{self.bottom + MARGIN:g}"'
        start = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">'
        head = f"<title>{escape(self.title)}</title><style>{STYLE}</style>"
        marker = f'<defs>{HEAD}<path d="M0 0L8 4L0 8z"/></marker></defs>'
        ground = '<rect class="ground" width="100%" height="100%" rx="6"/>'
        return "\n".join([start, head, marker, ground, *self.parts, "</svg>\n"])


def architecture() -> Diagram:
    drawn, whole, half = Diagram("Architecture of testbed"), WIDTH - 2 * MARGIN, (WIDTH - 3 * MARGIN) / 2
    right, middle = 2 * MARGIN + half, WIDTH / 2
    y = drawn.box(MARGIN, MARGIN, half, "experiment file", "rack, traffic, controller")
    drawn.box(right, MARGIN, half, "plugins", "controllers/, plugins/, yours", kind="own")
    for name, *notes in (
        ("cli/", "a file per verb: run, sweep, compare, advise …"),
        ("experiment/", "the file is checked before anything is built"),
        ("runs/", "one run, sweeps, published tables, crosscheck"),
        ("engines/", "one interface: check, prepare, follow"),
    ):
        drawn.line([(middle, y), (middle, y + 14)])
        y = drawn.box(MARGIN, y + 14, whole, name, *notes)
    names, wide = ("kernel", "virtual", "live", "fluid", "lab"), whole / 5
    ends = [drawn.box(MARGIN + at * wide, y, wide, name, kind="shared") for at, name in enumerate(names)]
    drawn.line([(MARGIN + half / 2, ends[0]), (MARGIN + half / 2, ends[0] + 14)])
    drawn.line([(right + half / 2, ends[0]), (right + half / 2, ends[0] + 14)])
    drawn.box(right, ends[0] + 14, half, "live/", "page, metrics, watch, edits")
    y = drawn.box(MARGIN, ends[0] + 14, half, "fidelity/", "invariants and the verdict")
    drawn.line([(MARGIN + half / 2, y), (MARGIN + half / 2, y + 14)])
    drawn.box(MARGIN, y + 14, whole, "results/", "folder that repeats the run; tables, report, comparison")
    return drawn


def packet() -> Diagram:
    drawn, lanes = Diagram("The life of a packet"), [58.0, 159.0, 261.0, 362.0]
    tops = ("agent", "pace.c"), ("sender's NIC", "nic.bpf.c"), ("switch port", "port.bpf.c"), ("receiver", "nic.bpf.c")
    top = max(drawn.box(x - 48, MARGIN, 96, *words, kind="own") for x, words in zip(lanes, tops, strict=True))
    agent, nic, port, receiver = range(4)
    steps: list[tuple[int, int, str]] = [  # from, to (the same: what is done there), what
        (agent, nic, "due: one sendmsg"),
        (nic, nic, "PSN and departure time"),
        (nic, port, "the host's link"),
        (port, port, "virtual queue: drop, RED mark, INT"),
        (port, receiver, "shaper at link rate"),
        (receiver, receiver, "data becomes its ACK"),
        (receiver, port, "ACK, perhaps CNP"),
        (port, nic, "other ports' queues"),
        (nic, nic, "arrival time, one record"),
        (nic, agent, "ring buffer"),
        (agent, agent, "RTT, mark, INT, loss"),
    ]
    drawn.parts += [""]  # the lanes, behind all else
    y = top + 10
    for start, end, words in steps:
        if start == end:
            wide = len(words) * EM["note"] + 20
            x = min(max(lanes[start] - wide / 2, MARGIN), WIDTH - MARGIN - wide)
            y = drawn.box(x, y, wide, "", words) + 12
            continue
        between = (lanes[start] + lanes[end]) / 2
        drawn.parts.append(f'<rect class="ground" x="{between - 50:g}" y="{y - 2:g}" width="100" height="16"/>')
        drawn.text(min(max(between, 60), WIDTH - 60), y + 10, words)
        drawn.line([(lanes[start], y + 18), (lanes[end], y + 18)], "back" if start > end else "")
        y += 30
    behind = [f'<path class="line" opacity="0.35" d="M{x:g} {top:g}V{y:g}"/>' for x in lanes]
    drawn.parts[drawn.parts.index("")] = "\n".join(behind)
    drawn.bottom = y
    return drawn


def decision() -> Diagram:
    drawn, y = Diagram("The life of a decision"), float(MARGIN)
    steps = (
        ("plain", "An ACK arrives", "the NIC puts a record into the ring buffer", "dataplane/nic.bpf.c"),
        ("plain", "The agent wakes", "a record, a packet or a timer is due", "agent/sleep.c"),
        ("plain", "Feedback is read", "RTT, mark, INT stack; a gap in the PSNs is a loss", "agent/feedback.c"),
        ("plain", "The controller is told", "one struct ack", "agent/tell.c"),
        ("own", "It decides", "on_ack, compiled from Python: rate, window, timer", "controllers/hpcc.py, or yours"),
        ("plain", "The decision is checked", "what cannot be one is refused", "compiled/decide.h"),
        ("plain", "It applies", "after the pacing gap, while the window has room", "agent/schedule.c"),
        ("plain", "Packets leave", "those due together in one sendmsg", "agent/pace.c, agent/batch.c"),
    )
    for at, (kind, name, *notes) in enumerate(steps):
        if at:
            drawn.line([(WIDTH / 2, y), (WIDTH / 2, y + 14)])
            y += 14
        y = drawn.box(40, y, WIDTH - 80, name, *notes, kind=kind)
    first, last, side = MARGIN + 30, y - 30, WIDTH - 40
    drawn.line([(side, last), (side + 22, last), (side + 22, first), (side, first)], "back")
    return drawn


def engines() -> Diagram:
    """What several engines share is one block across them."""
    drawn, wide = Diagram("Engines side by side"), (WIDTH - 2 * MARGIN) / 5
    shared = "the same on every engine"
    rows: list[list[tuple[int, str, str]]] = [  # columns, name, note
        [(1, name, "") for name in ("kernel", "virtual", "live", "fluid", "lab")],
        [(5, "experiment file, controllers, tuners", shared)],
        [(3, "sender, NIC and switch port", "agent/*.c, dataplane/*.bpf.c"),
         (1, "rates", "no packets"), (1, "sender", "and NIC")],
        [(1, "Linux", "veth, tc"), (2, "simulated lines", "world.c: events"),
         (1, "a model", "of queues"), (1, "wires", "switches")],
        [(1, "wall", "dilated"), (1, "virtual", "unpaced"), (1, "virtual", "paced"),
         (1, "steps", "of time"), (1, "wall", "real time")],
        [(1, "root", "sandbox"), (3, "no root", "any machine"), (1, "root", "on hosts")],
        [(5, "RunRecord, verdict, folder, report", shared)],
    ]  # fmt: skip
    y = float(MARGIN)
    for at, row in enumerate(rows):
        x, end = float(MARGIN), y
        for columns, name, note in row:
            kind = "own" if at == 0 else "shared" if columns > 1 else "plain"
            end = drawn.box(x, y, columns * wide, name, *filter(None, [note]), kind=kind)
            x += columns * wide
        y = end + 4
    return drawn


DIAGRAMS = {"architecture": architecture, "packet": packet, "decision": decision, "engines": engines}


def main(folder: Path = FOLDER) -> None:
    for name, draw in DIAGRAMS.items():
        (folder / f"{name}.svg").write_text(draw().svg(), encoding="utf-8")


if __name__ == "__main__":
    main(*(Path(folder) for folder in sys.argv[1:]))
