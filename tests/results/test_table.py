"""One table, on a terminal, as Markdown and on a page."""

from __future__ import annotations

import io

from rich.console import Console

from testbed.results.table import Cell, Table, aligned, of_plain

BELOW = Table(
    [[Cell("QL, us"), *(Cell(f"{number}234.567", "1..2") for number in range(9))]],
    [Cell(), *(Cell(f"contender {number}", prose=True) for number in range(9))],
    notes="below",
)


def shown(table: Table, width: int = 80) -> str:
    console = Console(file=io.StringIO(), width=width)
    console.print(table.terminal())
    return console.file.getvalue()  # type: ignore[attr-defined, no-any-return]


def test_no_figure_is_cut_or_left_out() -> None:
    parts = list(BELOW.that_fit(80, kept=1))
    assert [[cell.text for cell in part.rows[0]][1] for part in parts] == ["0234.567"] * len(parts)
    text = "\n".join(map(shown, parts))
    assert all(len(line) <= 80 for line in text.splitlines())
    assert all(f"{number}234.567" in text for number in range(9))
    narrow = shown(Table([[Cell("goodput"), Cell("35.74 Gbit/s", "in all"), Cell("893.4 Mbit/s", "per flow")]]), 30)
    assert "".join(narrow.split()).count("35.74") == 1
    assert "…" not in narrow


def test_a_page_and_markdown_escape_what_they_must() -> None:
    table = Table([[Cell("a|b"), Cell("<1>", "x")], [Cell("c")]], [Cell("head"), Cell("one\ntwo")])
    assert "<th>one<br>two</th>" in table.html()
    assert "<td>&lt;1&gt; <span>x</span></td>" in table.html()
    assert table.html().count("<td>") == 2  # a short row is filled up
    assert table.markdown().splitlines() == ["| head | one<br>two |", "| --- | ---: |", "| a\\|b | <1> x |", "| c |"]


def test_plain_data_comes_back() -> None:
    table = Table([[Cell("SU"), Cell("95.00 %", "")], [Cell("QL"), Cell("4.00 us", "mean"), Cell("5.00 us", "max")]])
    assert of_plain(table.plain()) == table


def test_columns_of_text_are_aligned_and_an_empty_one_takes_no_room() -> None:
    assert aligned([("a", "", "bc"), ("def", "", "g")]) == ["  a  bc", "def   g"]
