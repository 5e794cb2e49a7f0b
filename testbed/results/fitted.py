"""A table, and prose, in the width that there is: no figure is cut, folded, or parted from its unit.

Columns that have no room go into a further table below. Where not even one fits, each label stands above its figures.
How wide anything gets on a terminal is decided here alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from testbed.results.table import Cell, Row, Table

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
    from rich.text import Text

GAP = 2
NARROWEST_COLUMN = 10  # of those with notes below
INDENT = "  "


@dataclass(frozen=True)
class Fitted:
    """A table for rich; without a terminal it prints as plain text, with no box characters.

    If it comes in parts, its labels and the first ``kept`` columns are in all of them.
    """

    table: Table
    kept: int = 0

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        beside = self.table.notes == "beside"
        yield from (_beside(self.table, options.max_width) if beside else self._below(options.max_width))

    def _below(self, width: int) -> Iterator[RenderableType]:
        wanted, least = _widths(self.table)
        always, rest = list(range(1 + self.kept)), list(range(1 + self.kept, len(least)))
        if any(_sum([least[index] for index in [*always, one]], GAP) > width for one in rest or [0]):
            yield from _vertical(self.table, width)
            return
        for number, columns in enumerate(_parts(always, rest, least, width)):
            if number:
                yield ""
            rows = [[row[index] for index in columns] for row in _with_heads(self.table)]
            shrunk = _shrunk([wanted[index] for index in columns], [least[index] for index in columns], width)
            lines = [
                [_text(row[0]), *(self._stacked(cell, room) for cell, room in zip(row[1:], shrunk[1:], strict=True))]
                for row in rows
            ]
            yield _grid(lines, shrunk, ["left"] * len(columns), GAP)

    def _stacked(self, cell: Cell, width: int) -> Text:
        """Text above note; where they stand at the right, spaces behind a text keep it in line with others."""
        from rich.text import Text

        lines = []
        for text, style in ((cell.text, cell.colour), (cell.note, cell.note_style)):
            for line in text.split("\n") if text else ():
                parts = packed(_words(line), width, " ") if _foldable(cell, self.table) else [line]
                lines += [Text(part.rjust(width) if self.table.align == "right" else part, style) for part in parts]
        return Text("\n").join(lines)


@dataclass(frozen=True)
class Prose:
    """Text for rich, folded between words, but never between a number and its unit."""

    text: str
    style: str = ""
    hanging: str = ""  # stands before the first line, the others are indented as far

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from rich.text import Text

        lines = packed(_words(self.text), options.max_width - len(self.hanging), " ")
        for number, line in enumerate(lines):
            before = " " * len(self.hanging) if number else self.hanging
            yield Text(before + line, style=self.style, overflow="fold")


def packed(pieces: Sequence[str], width: int, gap: str = " " * GAP) -> list[str]:
    """Lines of at most this width, as long as no piece is longer: none is ever broken."""
    lines = [""]
    for piece in filter(None, pieces):
        longer = f"{lines[-1]}{gap}{piece}" if lines[-1] else piece
        if len(longer) > width and lines[-1]:
            lines.append(piece)
        else:
            lines[-1] = longer
    return lines


def _beside(table: Table, width: int) -> Iterator[RenderableType]:
    """With as many figures in a line as have room."""
    rows = _whole_rows(table)
    most = max((len(row) - 1 for row in table.rows), default=0)
    for across in range(most, 0, -1):
        lines = [line for label, cells in rows for line in _lines(label, cells, across)]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        if _sum(widths, 1) <= width:
            yield _grid(lines, widths, ["left", *["right", "left"] * across], 1)
            return
    if most:
        yield from _vertical(table, width)


def _whole_rows(table: Table) -> list[tuple[Cell, list[Cell]]]:
    """A row without a label goes on with the one above."""
    rows: list[tuple[Cell, list[Cell]]] = []
    for label, *cells in _with_heads(table):
        if rows and not label.text:
            rows[-1][1].extend(cells)
        else:
            rows.append((label, cells))
    return rows


def _lines(label: Cell, cells: Sequence[Cell], across: int) -> Iterator[list[Text]]:
    for first in range(0, max(len(cells), 1), across):
        here = [*cells[first : first + across], *[Cell()] * across][:across]
        yield [_text(Cell() if first else label), *(part for cell in here for part in (_text(cell), _note(cell)))]


def _vertical(table: Table, width: int) -> Iterator[RenderableType]:
    """Each label above its figures, each of these with the head of its column."""
    from rich.text import Text

    for head in table.heads[1:]:
        if head.note:
            yield from map(Text, packed([f"{_flat(head.text)}:", *head.note.split()], width, " "))
    heads = [Cell(f"{_flat(head.text)}:") for head in table.heads[1:]]
    for label, cells in _whole_rows(Table(table.rows)):
        yield Text(label.text, style="bold")
        for position, cell in enumerate(cells):
            head = heads[position] if heads else Cell()
            pieces = [head.text, *(_flat(line) for line in cell.text.split("\n")), _flat(cell.note)]
            for line in packed(pieces, width - len(INDENT), " "):
                yield Text(INDENT + line, style=cell.colour, overflow="fold")


def _parts(always: list[int], rest: list[int], least: list[int], width: int) -> Iterator[list[int]]:
    """The columns of each table: as many as have room, and never less than one that was not there before."""
    rest = list(rest)
    while True:
        group, rest = always + rest[:1], rest[1:]
        while rest and _sum([least[index] for index in [*group, rest[0]]], GAP) <= width:
            group.append(rest.pop(0))
        yield group
        if not rest:
            return


def _widths(table: Table) -> tuple[list[int], list[int]]:
    """Of each column: so that nothing in it is folded, and so that nothing but prose is, and that between words."""
    columns = [list(column) for column in zip(*_with_heads(table), strict=True)]
    prose = [[cell for cell in column if _foldable(cell, table)] for column in columns]
    words = [max((len(word) for cell in cells for text in (cell.text, cell.note) for word in _words(text)), default=0)
             for cells in prose]  # fmt: skip
    figures = [max((cell.width for cell in column if not _foldable(cell, table)), default=0) for column in columns]
    least = [max(NARROWEST_COLUMN, *both) for both in zip(words, figures, strict=True)]
    least[0] = max(cell.width for cell in columns[0])
    if table.align == "right":
        return least, least
    return [max(low, *(cell.width for cell in column)) for low, column in zip(least, columns, strict=True)], least


def _shrunk(wanted: Sequence[int], least: Sequence[int], width: int) -> list[int]:
    """Widths that fit, taken from the widest first."""
    widths = list(wanted)
    while _sum(widths, GAP) > width and widths != list(least):
        widest = max((index for index, low in enumerate(least) if widths[index] > low), key=lambda one: widths[one])
        widths[widest] -= 1
    return widths


def _grid(rows: Sequence[Sequence[Text]], widths: Sequence[int], justify: Sequence[str], gap: int) -> RenderableType:
    from rich.table import Table as Grid

    grid = Grid.grid(padding=(0, gap, 0, 0), pad_edge=False)
    for number, (width, side) in enumerate(zip(widths, justify, strict=True)):
        grid.add_column(justify=side, width=width, overflow="fold", style="" if number else "bold")  # type: ignore[arg-type]
    for row in rows:
        grid.add_row(*row)
    return grid


def _with_heads(table: Table) -> list[Row]:
    return [row for row in (table.heads, *table.rows) if row]


def _sum(widths: Sequence[int], gap: int) -> int:
    return sum(widths) + gap * (len(widths) - 1)


def _foldable(cell: Cell, table: Table) -> bool:
    return cell.prose or table.align == "left"


def _words(text: str) -> list[str]:
    """What folding keeps together: a number and its unit are one."""
    return re.split(r"(?<!\d)\s+", text)


def _flat(text: str) -> str:
    return " ".join(text.split())


def _text(cell: Cell) -> Text:
    from rich.text import Text

    return Text(cell.text, style=cell.colour)


def _note(cell: Cell) -> Text:
    from rich.text import Text

    return Text(cell.note, style=cell.note_style)
