"""The comparison on a terminal: one table per scenario, a colour for each verdict of the equality rule."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from testbed.results.papers import content
from testbed.results.papers.cells import Place
from testbed.results.papers.figures import Figures

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table
    from rich.text import Text

COLOURS = {"equal": "green", "better": "cyan", "worse": "red", "": ""}
GAP, NARROWEST = 3, 80  # characters


@dataclass(frozen=True)
class Block:
    """One metric in one scenario, as three columns of text: here, paper, how far apart."""

    title: str
    lines: list[tuple[str, str, str]]  # the first one is the heading
    words: list[str]  # of the lines but the first

    @property
    def widths(self) -> list[int]:
        """Of the three columns; a column with nothing in it takes no room."""
        return [max(map(len, column)) for column in zip(*self.lines, strict=True)]

    @property
    def width(self) -> int:
        """Of all of it."""
        return max(len(self.title), sum(width + 2 * (width > 0) for width in self.widths) - 2)

    def line(self, number: int) -> str:
        """One line, aligned to the right."""
        pairs = zip(self.lines[number], self.widths, strict=True)
        return "  ".join(text.rjust(width) for text, width in pairs if width).rjust(self.width)


def render(figures: Figures, places: list[Place], width: int, *, quick: bool) -> RenderableType:
    """Everything that there is to say, for rich."""
    from rich.console import Group
    from rich.text import Text

    comparison = figures.comparison
    parts: list[RenderableType] = [Text(f"{comparison.name}: {comparison.title}", style="bold"), Text()]
    for column in comparison.columns:
        blocks = [_block(figures, column, metric) for metric in comparison.metrics]
        label = max(len(comparison.columns[column].label), *map(len, comparison.rows))
        for some in _that_fit(blocks, max(width, NARROWEST) - label):
            parts.append(_table(figures, column, some))
        parts += [Text(line, style="dim italic") for line in content.empty(figures, column)]
        parts.append(Text())
    if any(True for _ in content.orders(figures)):
        parts += [_derived(figures), Text()]
    return Group(*parts, *(Text(note, style="dim") for note in content.notes(figures, places, quick)))


def _block(figures: Figures, column: str, metric: str) -> Block:
    about = figures.comparison.metrics[metric]
    every = [figures.beside(row, column, metric) for row in figures.comparison.rows]
    lines = [(content.ours(one, about), content.printed(one), content.apart(one, about)) for one in every]
    paper = "paper" if any(printed for _, printed, _ in lines) else ""
    return Block(content.heading(about), [("here", paper, ""), *lines], [one.word for one in every])


def _that_fit(blocks: Sequence[Block], width: int) -> Iterator[list[Block]]:
    group: list[Block] = []
    for block in blocks:
        if group and sum(GAP + one.width for one in [*group, block]) > width:
            yield group
            group = []
        group.append(block)
    yield group


def _table(figures: Figures, column: str, blocks: list[Block]) -> Table:
    from rich.table import Table
    from rich.text import Text

    comparison = figures.comparison
    table = Table.grid(padding=(0, GAP, 0, 0))
    for _ in range(1 + len(blocks)):
        table.add_column(no_wrap=True)
    label = comparison.columns[column].label
    table.add_row(Text(label, style="bold"), *(Text(one.title.rjust(one.width), style="bold") for one in blocks))
    table.add_row("", *(Text(one.line(0), style="dim") for one in blocks))
    for number, row in enumerate(comparison.rows):
        table.add_row(row, *(_coloured(one, number) for one in blocks))
    return table


def _coloured(block: Block, row: int) -> Text:
    from rich.text import Text

    return Text(block.line(row + 1), style=COLOURS[block.words[row]])


def _derived(figures: Figures) -> Table:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold", show_edge=False)
    for head in content.order_headings(figures.comparison):
        table.add_column(head, overflow="fold")
    for label, order, agreement, close in content.orders(figures):
        style = "green" if agreement.startswith("same") else "yellow" if agreement.startswith("the same") else "red"
        table.add_row(label, order, Text(agreement, style=style), close)
    return table
