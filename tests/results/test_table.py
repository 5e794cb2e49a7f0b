"""One table, as Markdown, on a page and as data."""

from __future__ import annotations

from testbed.results.table import Cell, Table, aligned, of_plain


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
