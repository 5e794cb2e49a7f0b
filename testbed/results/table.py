"""One table for all that is printed: as Markdown, on a page, as JSON, and on a terminal (`testbed.results.fitted`)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, Literal

GAP = 2
MARKED = {"": "", "better": "green", "worse": "red"}


@dataclass(frozen=True)
class Cell:
    """A text, and a note on it in grey. Styles are rich's."""

    text: str = ""
    note: str = ""
    style: str = ""
    note_style: str = "dim"
    mark: Literal["", "better", "worse"] = ""  # coloured wherever it is shown
    prose: bool = False  # may be folded between words

    @property
    def colour(self) -> str:
        """Of its text on a terminal."""
        return self.style or MARKED[self.mark]

    @property
    def width(self) -> int:
        """Of text above note, unfolded."""
        return max(len(line) for text in (self.text, self.note) for line in text.split("\n"))


Row = Sequence[Cell]


@dataclass(frozen=True)
class Table:
    """Rows of cells; the first cell of each is the row's label."""

    rows: Sequence[Row]
    heads: Row = ()
    notes: Literal["beside", "below"] = "beside"
    align: Literal["left", "right"] = "right"  # of all but the labels

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


def _plain(cell: Cell) -> str:
    return f"{cell.text} {cell.note}".strip().replace("|", "\\|").replace("\n", "<br>")


def _cell(cell: Cell, between: str) -> str:
    return f"<td{f' class={cell.mark!r}' if cell.mark else ''}>{_marked(cell, between)}</td>"


def _marked(cell: Cell, between: str) -> str:
    note = f"{between}<span>{escape(cell.note)}</span>" if cell.note else ""
    return escape(cell.text).replace("\n", "<br>") + note
