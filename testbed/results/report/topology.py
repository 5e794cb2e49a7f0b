"""A drawing of the rack: switches, hosts and links, coloured by how much of its rate each direction carried.

Drawn from ports alone - whose they are and who is at the other end - so that it does not know what kind of rack it is:
switches with hosts stand in the lowest row, switches between switches above them. The live page colours the same
drawing anew as a run goes on: a part with a colour says whose it is by ``data-port`` and ``data-way``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from testbed.results import figures
from testbed.results.record import Measured
from testbed.results.report.drawing import Drawing, Point, data

LEVELS = (0.01, 0.2, 0.5, 0.8, 0.95)  # of the rate; the colours u0 ... u5 lie between them
WIDTH = 520
MARGIN = 6
APART = 30  # hosts nearer than this are drawn as cells of a grid, without lines
LENGTH = 54  # of a link
BAR = 24  # height of a switch
BETWEEN = 96  # two rows of switches
CELL, SMALLEST_CELL = 24, 4
GAP = 2
MOST_HEIGHT = 320  # of a grid, before cells get smaller
TEXT = 15  # height of a line
LETTER, BOLD_LETTER = 8, 9  # widths of the widest
MOST_INK = 60  # widths of all links between switches: many are thin


@dataclass(frozen=True)
class Link:
    """A switch port and what is at its other end; shares of the port's rate over the window, nan where unknown."""

    port: str  # "s1-eth3"
    switch: str
    neighbour: str  # a host or another switch
    sent: float  # by the switch
    received: float = math.nan  # from the neighbour, if that is a host: a switch says it with a link of its own


def links_of(measured: Measured) -> list[Link]:
    """The links, as their ports see them. What a host sent is what was acknowledged."""
    span = figures.window(measured)
    series, flows = measured.flow_series, measured.flows
    sent = (
        8 * figures.growth(measured.port_series.time, measured.port_series.tx_bytes, span) / (span.length or math.nan)
    )
    by_host: dict[str, float] = {}
    if series.wire_bytes.shape[1] == len(flows):  # else there are series of some of the flows only
        acked = 8 * figures.growth(series.time, series.wire_bytes, span) / (span.length or math.nan)
        for host, share in zip(flows.src, (acked / flows.line_rate).tolist(), strict=True):
            by_host[host] = by_host.get(host, 0.0) + share
    links = []
    shares = (sent / measured.port_rate).tolist()
    for port, neighbour, share in zip(measured.ports, measured.port_neighbour, shares, strict=True):
        links.append(Link(port, port.rpartition("-eth")[0], neighbour, share, by_host.get(neighbour, math.nan)))
    return links


def level(share: float) -> int:
    """Which of the colours ``u0`` to ``u5`` stands for a share of the rate."""
    return int(np.searchsorted(LEVELS, share, side="right")) if math.isfinite(share) else 0


def draw(links: Sequence[Link], bottleneck: str = "") -> str:
    """An SVG element. Colours are CSS variables; ``bottleneck`` is the port to mark."""
    return _Topology(links, bottleneck).svg()


class _Topology:
    """Puts the parts in their places, from top to bottom."""

    def __init__(self, links: Sequence[Link], bottleneck: str) -> None:
        self.bottleneck = bottleneck
        self.switches = sorted({link.switch for link in links}, key=_natural)
        self.hosts: dict[str, list[Link]] = {switch: [] for switch in self.switches}
        self.trunks = [link for link in links if link.neighbour in self.hosts]
        for link in sorted(links, key=lambda link: _natural(link.neighbour)):
            if link.neighbour not in self.hosts:
                self.hosts[link.switch].append(link)
        self.marked = next((link for link in links if link.port == bottleneck), None)
        self.lane = min(5.0, max(1.0, MOST_INK / max(len(self.trunks), 1)))
        self.drawing = Drawing(WIDTH)

    def svg(self) -> str:
        lower = [switch for switch in self.switches if self.hosts[switch]]
        upper = [switch for switch in self.switches if not self.hosts[switch]]
        places: dict[str, Point] = {}
        y = float(MARGIN)
        for row in filter(None, (upper, lower)):
            places |= {switch: ((number + 0.5) * WIDTH / len(row), y) for number, switch in enumerate(row)}
            y += BETWEEN if row is upper and lower else BAR
        self._trunks(places)
        bottom = y
        for switch, (x, top) in places.items():
            own = self.hosts[switch]
            wide = WIDTH / len(lower if own else upper)
            width = wide - 2 * _margin(wide) if own else min(wide - 2 * MARGIN, 90)
            box, part = (x - width / 2, top, width, BAR), data(switch=switch)
            self.drawing.box(box, "panel", "faint", radius=5, title=f"switch {switch}", data=part)
            if label := _fitting(switch, width):
                self.drawing.text((x, top + BAR / 2 + 4), label, anchor="middle", bold=True)
            if own:
                hosts = self._row if len(own) * APART <= wide - 2 * MARGIN else self._grid
                bottom = max(bottom, hosts(own, (x - wide / 2, y), wide))
        height = self._legend(bottom + 16) + MARGIN
        count = sum(map(len, self.hosts.values()))
        return self.drawing.svg(height, f"Topology: {len(self.switches)} switches, {count} hosts")

    def _trunks(self, places: dict[str, Point]) -> None:
        """Two lanes per pair of ports; each switch tells of the direction in which it sends."""
        for link in sorted(self.trunks, key=lambda link: link.sent):  # the busy ones are on top
            (x1, y1), (x2, y2) = places[link.switch], places[link.neighbour]
            aside = 0.6 * self.lane / math.dist((x1, y1), (x2, y2))  # to the left of where it leads
            right, down = aside * (y2 - y1), aside * (x1 - x2) + BAR / 2  # boxes cover the ends
            self._lane((x1 + right, y1 + down), (x2 + right, y2 + down), link, width=self.lane)

    def _lane(self, start: Point, end: Point, link: Link, *, back: bool = False, width: float = 5) -> None:
        share = link.received if back else link.sent
        if link.port == self.bottleneck and not back:
            self.drawing.line(start, end, "limit", width=width + 5, opacity=0.35)
        part = data(port=link.port, way="received" if back else "sent")
        self.drawing.line(start, end, f"u{level(share)}", width=width, title=_about(link), data=part)

    def _row(self, links: list[Link], corner: Point, wide: float) -> float:
        """Hosts side by side, each with its link: left what it sent, right what it got. Returns where they end."""
        (left, y), low = corner, corner[1] + LENGTH
        for number, link in enumerate(links):
            x = left + (number + 0.5) * wide / len(links)
            if math.isfinite(link.received):
                self._lane((x - 4, y), (x - 4, low), link, back=True)
            self._lane((x + 4, y), (x + 4, low), link)
            half = min(wide / len(links) / 2 - 2, 22)
            outline = "limit" if link.port == self.bottleneck else "faint"
            box, part = (x - half, low, 2 * half, 20), data(port=link.port)
            self.drawing.box(box, "paper", outline, radius=4, title=_about(link), data=part)
            self.drawing.text((x, low + 14), link.neighbour, anchor="middle")
        return low + 20

    def _grid(self, links: list[Link], corner: Point, wide: float) -> float:
        """A cell per host: its left half is what it sent, its right half what it got. Returns where they end."""
        left, y = corner[0] + _margin(wide), corner[1] + 10
        room = wide - 2 * _margin(wide)
        indent = 4 + LETTER * max(4, len(links[-1].neighbour)) if room > 120 else 0  # for a name at the left of a row
        sizes = range(CELL, SMALLEST_CELL, -1)
        fitting = (size for size in sizes if _rows(len(links), room - indent, size) * (size + GAP) <= MOST_HEIGHT)
        rows = _rows(len(links), room - indent, next(fitting, SMALLEST_CELL))
        columns = math.ceil(len(links) / rows)
        cell = min(CELL, (room - indent) / columns - GAP)
        every = math.ceil(TEXT / (cell + GAP))  # so many rows have one name
        for number, link in enumerate(links):
            row, column = divmod(number, columns)
            x, top = left + indent + column * (cell + GAP), y + row * (cell + GAP)
            if column == 0 and indent and row % every == 0:
                self.drawing.text((x - 6, top + cell / 2 + 4), link.neighbour, "muted", anchor="end")
            for at, share, way in ((x, link.received, "received"), (x + cell / 2, link.sent, "sent")):
                part = data(port=link.port, way=way)
                colour = f"u{level(share)}"
                self.drawing.box((at, top, cell / 2, cell), colour, title=_about(link), radius=0, data=part)
            if link.port == self.bottleneck:
                self.drawing.box((x - 1.5, top - 1.5, cell + 3, cell + 3), "", "limit", width=2.5, radius=2)
        return y + math.ceil(len(links) / columns) * (cell + GAP)

    def _legend(self, y: float) -> float:
        names = [_percent(low) for low in (0.0, *LEVELS)]
        for number, name in enumerate(names):
            x = MARGIN + 58 * number
            self.drawing.box((x, y, 14, 12), f"u{number}")
            self.drawing.text((x + 18, y + 11), name, "muted")
        self.drawing.text((MARGIN + 58 * len(names), y + 11), "of the rate and more", "muted")
        if self.marked is None:
            return y + 12
        self.drawing.box((MARGIN + 1, y + 21, 12, 10), "", "limit", width=2, radius=2)
        share = f": {_percent(self.marked.sent)}" if math.isfinite(self.marked.sent) else ""
        text = f"bottleneck {self.marked.port} to {self.marked.neighbour}{share}"
        self.drawing.text((MARGIN + 18, y + 31), text)
        return y + 32


def _fitting(name: str, width: float) -> str:
    """A switch's name, or where that is too long its number; empty if that is as well."""
    number = name[len(name.rstrip("0123456789")) :]
    return next((text for text in (name, number) if BOLD_LETTER * len(text) < width), "")


def _margin(wide: float) -> float:
    return min(MARGIN, 0.1 * wide)


def _rows(cells: int, room: float, size: float) -> int:
    """How many rows so many cells of this size need."""
    return math.ceil(cells / max(1, int(room // (size + GAP))))


def _about(link: Link) -> str:
    back = f"; {link.neighbour} to {link.switch}: {_percent(link.received)}" if math.isfinite(link.received) else ""
    return f"{link.port}, {link.switch} to {link.neighbour}: {_percent(link.sent)}{back}"


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %" if math.isfinite(share) else "unknown"


def _natural(name: str) -> tuple[str, int]:
    """h2 before h10."""
    letters = name.rstrip("0123456789")
    return letters, int(name[len(letters) :] or 0)
