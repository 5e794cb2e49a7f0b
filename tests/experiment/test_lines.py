"""Lines of words, and what is said of bad ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from testbed.experiment.lines import LONGEST, first, lines


def test_words_without_comments_and_empty_lines(tmp_path: Path) -> None:
    file = tmp_path / "x"
    file.write_text("\ufeff# a comment\n\n one  two # three\n\tfour\n")
    assert [(line.number, line.words) for line in lines(file)] == [(3, ["one", "two"]), (4, ["four"])]
    assert first(file).number == 3


def test_an_empty_file_has_an_empty_line(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("\n")
    assert first(tmp_path / "x").words == []


@pytest.mark.parametrize("word", ["-1", "11", "1.5", "x", "9" * 5000])
def test_no_whole_number(word: str, tmp_path: Path) -> None:
    (tmp_path / "x").write_text(f"a {word}\n")
    with pytest.raises(ValueError, match=r"x, line 1: expected a node, a whole number of 0 to 10, as word 2, got 'a "):
        first(tmp_path / "x").whole(1, "a node", 0, 10)


def test_a_line_without_an_end(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("1\n" + "2 " * LONGEST)
    with pytest.raises(ValueError, match="x, line 2: expected a line of less than 1,048,576 characters"):
        list(lines(tmp_path / "x"))


def test_no_text(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"1 2\n\xff\xfe\n")
    with pytest.raises(ValueError, match="expected UTF-8 text"):
        list(lines(tmp_path / "x"))
