"""One table for all that is printed: on a terminal, as Markdown, on a page. How wide it gets is decided here alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from html import escape
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from rich.table import Table as Grid
    from rich.text import Text

NARROWEST = 80  # what does not fit a narrower terminal is folded by it
GAP = 2
MARKED = {"": "", "better": "green", "worse": "red"}
NARROWEST_COLUMN = 10  # of those with notes below


@dataclass(frozen=True)
class Cell:
    """A text, and a note on it in grey. Styles are rich's."""

    text: str = ""
    note: str = ""
    style: str = ""
    note_style: str = "dim"
    mark: Literal["", "better", "worse"] = ""  # coloured wherever it is shown
    prose: bool = False  # may be folded, and has no say in how wide its column is

    @property
    def width(self) -> int:
        """Of text above note, unfolded."""
        return 0 if self.prose else max(len(line) for text in (self.text, self.note) for line in text.split("\n"))


Row = Sequence[Cell]


@dataclass(frozen=True)
class Table:
    """Rows of cells; the first cell of each is the row's label."""

    rows: Sequence[Row]
    heads: Row = ()
    notes: Literal["beside", "below"] = "beside"
    align: Literal["left", "right"] = "right"  # of all but the labels

    def that_fit(self, width: int, kept: int = 0) -> Iterator[Table]:
        """Tables one below the other, with as many columns each as have room; labels and ``kept`` columns are in all.

        Never less than one column more, so nothing is ever left out.
        """
        widths = [GAP + each for each in self._widths()]
        always = list(range(1 + kept))
        rest = list(range(1 + kept, len(widths)))
        while True:
            group = always + rest[:1]
            rest = rest[1:]
            while rest and sum(widths[index] for index in [*group, rest[0]]) <= max(width, NARROWEST):
                group.append(rest.pop(0))
            yield self._only(group)
            if not rest:
                return

    def _only(self, columns: Sequence[int]) -> Table:
        heads, *rows = ([row[index] for index in columns] for row in (self.heads, *self.rows))
        return replace(self, rows=rows, heads=heads)

    def _widths(self) -> list[int]:
        """Of each column, so that nothing in it is folded but prose."""
        columns = zip_longest(self.heads, *self.rows, fillvalue=Cell())
        label, *others = [max(each.width for each in column) for column in columns] or [0]
        return [label, *(max(width, NARROWEST_COLUMN) for width in others)]

    def terminal(self) -> Grid:
        """For rich; without a terminal it prints as plain text, with no box characters."""
        from rich.table import Table as Grid

        beside, (label_width, *widths) = self.notes == "beside", self._widths()
        grid = Grid.grid(padding=(0, 1 if beside else GAP, 0, 0))
        grid.add_column(style="bold", min_width=label_width)
        for width in widths:
            if beside:
                grid.add_column(justify="right", overflow="fold")
                grid.add_column(overflow="fold")
            else:
                grid.add_column(justify=self.align, overflow="fold", width=width if self.align == "right" else None)
        for label, *cells in filter(None, [self.heads, *self.rows]):
            shown = (part for cell in cells for part in (_parts(cell) if beside else [_stacked(cell)]))
            grid.add_row(_parts(label)[0], *shown)
        return grid

    def markdown(self) -> str:
        """With its heads, as a table of Markdown must."""
        rule = ["---", *("---:" if self.align == "right" else "---" for _ in self.heads[1:])]
        lines = [[_plain(cell) for cell in row] for row in (self.heads, *self.rows)]
        return "\n".join(f"| {' | '.join(line)} |" for line in [lines[0], rule, *lines[1:]])

    def html(self) -> str:
        """For a page."""
        between = " " if self.notes == "beside" else "<br>"
        head = "".join(f"<th>{_marked(cell, between)}</th>" for cell in self.heads)
        lines = []
        for row in self.rows:
            label, *cells = row
            missing = max(map(len, self.rows)) - len(row)
            told = "".join(_cell(cell, between) for cell in [*cells, *[Cell()] * missing])
            lines.append(f'<tr><th scope="row">{escape(label.text)}</th>{told}</tr>')
        heads = f"<thead><tr>{head}</tr></thead>" if head else ""
        return f'<div class="wide"><table>{heads}<tbody>{"".join(lines)}</tbody></table></div>'

    def plain(self) -> list[dict[str, object]]:
        """For JSON: the label of each row, and its texts with their notes."""
        return [{"name": label.text, "values": [[cell.text, cell.note] for cell in cells]}
                for label, *cells in self.rows]  # fmt: skip


def of_plain(rows: Iterable[dict[str, Any]]) -> Table:
    """The reverse of `Table.plain`."""
    return Table([[Cell(row["name"]), *(Cell(*value) for value in row["values"])] for row in rows])


def aligned(lines: Sequence[Sequence[str]]) -> list[str]:
    """Several columns of text as one, each aligned to the right; one with nothing in it takes no room."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return [(" " * GAP).join(text.rjust(width) for text, width in zip(line, widths, strict=True) if width)
            for line in lines]  # fmt: skip


def _parts(cell: Cell) -> list[Text]:
    from rich.text import Text

    return [Text(cell.text, style=cell.style or MARKED[cell.mark]), Text(cell.note, style=cell.note_style)]


def _stacked(cell: Cell) -> Text:
    from rich.text import Text

    text, note = _parts(cell)
    return Text("\n").join([text, note]) if cell.note else text


def _plain(cell: Cell) -> str:
    return f"{cell.text} {cell.note}".strip().replace("|", "\\|").replace("\n", "<br>")


def _cell(cell: Cell, between: str) -> str:
    return f"<td{f' class={cell.mark!r}' if cell.mark else ''}>{_marked(cell, between)}</td>"


def _marked(cell: Cell, between: str) -> str:
    note = f"{between}<span>{escape(cell.note)}</span>" if cell.note else ""
    return escape(cell.text).replace("\n", "<br>") + note
