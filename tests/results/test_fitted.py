"""A table in any width: its figures come whole, with their units."""

from __future__ import annotations

import io

import pytest
from rich.console import Console, RenderableType

from testbed.results.fitted import Fitted, Prose, packed
from testbed.results.papers import table as papers
from testbed.results.papers.figures import Figures
from testbed.results.table import Cell, Table
from tests.support.comparisons import figures_of_mine

WIDTHS = (20, 24, 40, 57, 80, 200)
FIGURES = Table([
    [Cell("goodput"), Cell("35.74 Gbit/s", "in all"), Cell("893.4 Mbit/s", "per flow")],
    [Cell("QL"), Cell("1.25 us", "mean"), Cell("12.50 us", "p99"), Cell("20.00 us", "max")],
    [Cell(""), Cell("7.75 us", "receivers")],
])  # fmt: skip
CONTENDERS = Table(
    [
        [Cell("queue mean, kB"), *(Cell(f"{number}234.567", f"{number}1..{number}2") for number in range(9))],
        [Cell("dominated"), *(Cell("by contender", prose=True) for _ in range(9))],
    ],
    [Cell(), *(Cell(f"contender alpha_period={number} us", "3 runs", prose=True) for number in range(9))],
    notes="below",
)


def shown(what: RenderableType, width: int) -> list[str]:
    console = Console(file=io.StringIO(), width=width)
    console.print(what)
    return [line.rstrip() for line in console.file.getvalue().splitlines()]  # type: ignore[attr-defined]


@pytest.mark.parametrize("width", WIDTHS)
def test_figures_come_whole_and_in_order(width: int) -> None:
    lines = shown(Fitted(FIGURES), width)
    assert [line for line in lines if len(line) > width] == []
    text = "\n".join(lines)
    places = [text.index(cell.text) for row in FIGURES.rows for cell in row[1:]]
    assert places == sorted(places)
    assert " per flow" in text
    assert "…" not in text


def test_as_many_figures_in_a_line_as_have_room() -> None:
    assert len(shown(Fitted(FIGURES), 80)) == 3  # of four figures in a row without an end, three would fit
    assert shown(Fitted(FIGURES), 40)[:2] == ["goodput 35.74 Gbit/s in all", "        893.4 Mbit/s per flow"]
    assert shown(Fitted(FIGURES), 24)[:2] == ["goodput", "  35.74 Gbit/s in all"]


@pytest.mark.parametrize("width", WIDTHS)
def test_contenders_go_into_further_tables_with_labels_and_baseline(width: int) -> None:
    lines = shown(Fitted(CONTENDERS, kept=1), width)
    text = "\n".join(lines)
    assert "…" not in text
    for number in range(9):
        assert f"{number}234.567" in text
        assert f"{number}1..{number}2" in text
        assert f"alpha_period={number}" in text
    if width >= 57:
        assert [line for line in lines if len(line) > width] == []
        tables = [line for line in lines if line.startswith("queue mean, kB ")]
        assert all("0234.567" in line for line in tables)
        assert len(tables) == text.count("dominated ")


@pytest.mark.parametrize("width", WIDTHS)
def test_a_papers_tables(width: int) -> None:
    figures: Figures = figures_of_mine()
    lines = shown(papers.render(figures, [], quick=False), width)
    assert "…" not in "".join(lines)
    text = " ".join(word for line in lines for word in line.split())
    for figure in ("94.0", "+4.0 =", "85.0†", "2 to 1", "A < B"):
        assert figure in text
    if width >= 24:
        assert [line for line in lines if len(line) > width] == []


def test_columns_within_a_cell_stand_below_each_other() -> None:
    a, _, c = shown(papers.render(figures_of_mine(), [], quick=False), 80)[4:7]
    assert (a[:20].rstrip(), c[:20].rstrip()) == ("A        94.0     90", "C           -    100")


def test_prose_is_not_parted_between_a_number_and_its_unit() -> None:
    assert shown(Prose("a queue of 20 us", hanging=" - "), 14) == [" - a queue of", "   20 us"]
    assert shown(Prose("wait 5 ms"), 8) == ["wait", "5 ms"]


def test_no_piece_is_broken() -> None:
    assert packed(["12 us", "", "3 kB", "much too long"], 11) == ["12 us  3 kB", "much too long"]
