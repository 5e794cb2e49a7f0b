"""The tables of a comparison, on a terminal and in Markdown: ours beside the paper's, and what follows of it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from testbed.results.fitted import Fitted, Prose
from testbed.results.papers.cells import TableCell
from testbed.results.papers.comparison import Metric
from testbed.results.papers.figures import Figures, Pair
from testbed.results.papers.judge import Judgement, judge
from testbed.results.papers.notes import DAGGER, MISS, notes
from testbed.results.table import Cell, Table, aligned

if TYPE_CHECKING:
    from rich.console import RenderableType

SIGNS = {"equal": "=", "miss": MISS, "": ""}
COLOURS = {"equal": "green", "miss": "red", "": ""}
NOT_HERE, NOT_RUN = "not implemented here", "not run"


def render(figures: Figures, table_cells: list[TableCell], *, quick: bool) -> RenderableType:
    """All there is to say, for rich: one table per scenario, a colour for each word of the equality rule."""
    from rich.console import Group
    from rich.text import Text

    comparison = figures.comparison
    parts: list[RenderableType] = [Prose(f"{comparison.name}: {comparison.title}", style="bold"), Text()]
    for column in comparison.columns:
        parts += [Fitted(scenario(figures, column)), *(Prose(line, "dim italic") for line in empty(figures, column))]
        parts.append(Text())
    if (derived := orders(figures)) is not None:
        parts += [Fitted(derived), Text()]
    return Group(*parts, *(Prose(note, style="dim") for note in notes(figures, table_cells, quick)))


def markdown(figures: Figures, table_cells: list[TableCell], *, quick: bool) -> str:
    """For docs and notes: one table with all scenarios, the derived one, the notes as a list."""
    comparison = figures.comparison
    head = f"**{comparison.name}**: {comparison.title}"
    return "\n".join([head, "", tables(figures), "", *(f"* {note}" for note in notes(figures, table_cells, quick))])


def tables(figures: Figures) -> str:
    """One table with all scenarios, and the derived one, as Markdown."""
    both = scenarios(figures), orders(figures)
    return "\n\n".join(one.markdown() for one in both if one is not None)


def scenario(figures: Figures, column: str) -> Table:
    """One column of the paper's table: a row per contender, for each metric ours, the paper's, the difference."""
    comparison = figures.comparison
    label = Cell(comparison.columns[column].label)
    heads, blocks = [], []
    for metric, about in comparison.metrics.items():
        pairs = [figures.pair(row, column, metric) for row in comparison.rows]
        lines = [(_ours(one, about), _printed(one), _difference(one, about)) for one in pairs]
        head, *texts = aligned([("here", "paper" if any(line[1] for line in lines) else "", ""), *lines])
        heads.append(Cell(about.heading, head, "bold"))
        blocks.append([Cell(text, style=COLOURS[one.word]) for text, one in zip(texts, pairs, strict=True)])
    rows = zip(comparison.rows, *blocks, strict=True)
    return Table([[Cell(row), *cells] for row, *cells in rows], [label, *heads], notes="below")


def scenarios(figures: Figures) -> Table:
    """All columns of the paper's table, one below the other; for each figure ours, its interval, and the paper's."""
    comparison = figures.comparison
    heads = [Cell(), Cell()]
    for about in comparison.metrics.values():
        heads += [Cell(f"{about.heading}: here"), *([Cell("paper")] if about.printed else [])]
    rows = []
    for column, shown in comparison.columns.items():
        for row in comparison.rows:
            why = why_empty(figures, row, column)
            cells = [Cell(shown.label), Cell(row, f"({why})" if why else "")]
            for metric, about in comparison.metrics.items():
                one = figures.pair(row, column, metric)
                cells.append(Cell(f"{_ours(one, about)}{_interval(one, about)}", SIGNS[one.word]))
                cells += [Cell(_printed(one))] if about.printed else []
            rows.append(cells)
    return Table(rows, heads)


def _ours(pair: Pair, metric: Metric) -> str:
    """Our median; a dagger if a run behind it is degraded."""
    if pair.ours is None or math.isnan(pair.ours.median):
        return "-"
    return f"{pair.ours.median:,.{metric.digits}f}{DAGGER if pair.degraded else ''}"


def _interval(pair: Pair, metric: Metric) -> str:
    """Around our median (`testbed.results.compare.median`); nothing if all repeats are the same."""
    if pair.ours is None or not pair.ours.has_interval:
        return ""
    low, high = (f"{value:,.{metric.digits}f}" for value in (pair.ours.low, pair.ours.high))
    return f" ({low} to {high})" if low != high else ""


def _printed(pair: Pair) -> str:
    """As the paper has it."""
    value = pair.printed
    return "" if value is None else value if isinstance(value, str) else f"{value:,g}"


def _difference(pair: Pair, metric: Metric) -> str:
    """Ours less the paper's, and what the equality rule makes of it."""
    return f"{pair.difference:+,.{metric.digits}f} {SIGNS[pair.word]}" if pair.word else ""


def why_empty(figures: Figures, row: str, column: str) -> str:
    """What to show for a row that has no runs in a column."""
    if figures.measured.of(row, column) or figures.comparison.columns[column].best_of:
        return ""
    return NOT_RUN if row in figures.implemented else NOT_HERE


def empty(figures: Figures, column: str) -> Iterator[str]:
    """Which rows have no runs in a column, by reason."""
    for why in (NOT_HERE, NOT_RUN):
        rows = [row for row in figures.comparison.rows if why_empty(figures, row, column) == why]
        if rows:
            yield f"{why}: {', '.join(rows)}"


def orders(figures: Figures) -> Table | None:
    """The derived table: column, the paper's order and ours, whether they agree, who is how far off; if asked for."""
    comparison, judged = figures.comparison, figures.comparison.judged
    if judged is None or not (found := judge(figures)):
        return None
    order, close = comparison.metrics[judged.order], comparison.metrics[judged.close]
    sign = " > " if order.better == "higher" else " < "  # the best stands first
    heads = "", f"by {order.label}: paper, here", "agrees?", f"{close.label} here - paper; far beyond {judged.within:g}"
    rows = [
        [
            Cell(comparison.columns[one.column].label),
            Cell(f"{sign.join(one.printed_order)}\n{sign.join(one.our_order)}"),
            _agreement(one),
            Cell(_closeness(one)),
        ]
        for one in found
    ]
    return Table(rows, [Cell(head, style="bold") for head in heads], notes="below", align="left")


def _agreement(one: Judgement) -> Cell:
    if one.same_order:
        return Cell("same order", style="green")
    pairs = "; ".join(map(str, one.reversed))
    if one.same_by_rule:
        return Cell(f"the same but for ties: {pairs}", style="yellow")
    return Cell(f"another order: {pairs}", style="red")


def _closeness(one: Judgement) -> str:
    return ", ".join(
        f"{row} {difference:+.1f}{'' if row not in one.far else ' (far)'}" for row, difference in one.close.items()
    )
