"""The comparison as Markdown, for docs and notes: the same cells and words as on a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from testbed.results.papers import content
from testbed.results.papers.cells import Place
from testbed.results.papers.figures import Figures


def render(figures: Figures, places: list[Place], *, quick: bool) -> str:
    """One table with all scenarios, the derived one, the notes as a list."""
    comparison = figures.comparison
    parts = [f"**{comparison.name}**: {comparison.title}", "", *_table(figures), ""]
    if any(True for _ in content.orders(figures)):
        parts += [*_derived(figures), ""]
    return "\n".join([*parts, *(f"* {note}" for note in content.notes(figures, places, quick))])


def _table(figures: Figures) -> Iterator[str]:
    comparison = figures.comparison
    heads = [f"{content.heading(metric)}: here | paper" for metric in comparison.metrics.values()]
    yield f"| | | {' | '.join(heads)} |"
    yield f"|---|---|{'---:|---:|' * len(heads)}"
    for column in comparison.columns:
        for row in comparison.rows:
            cells = []
            for metric, about in comparison.metrics.items():
                one = figures.beside(row, column, metric)
                mark = content.SIGNS[one.word]
                cells += [f"{content.ours(one, about)} {mark}".rstrip(), content.printed(one)]
            empty = content.why_empty(figures, row, column)
            label = f"{row} ({empty})" if empty else row
            yield f"| {comparison.columns[column].label} | {label} | {' | '.join(cells)} |"


def _derived(figures: Figures) -> Iterator[str]:
    yield f"| {' | '.join(content.order_headings(figures.comparison))} |"
    yield "|---|---|---|---|"
    for cells in content.orders(figures):
        yield f"| {' | '.join(cell.replace(chr(10), '<br>') for cell in cells)} |"
