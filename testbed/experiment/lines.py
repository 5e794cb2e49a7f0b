"""Text files of other tools: lines of words, each with the place where it stands."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, NoReturn, TextIO

LONGEST = 1 << 20  # characters of a line: lists of switches are long
SHOWN = 60


class Line(NamedTuple):
    """The words of a line that has any."""

    file: Path
    number: int
    words: list[str]

    def refuse(self, expected: str) -> NoReturn:
        """Raises ValueError with file, line, what was expected, and what is there."""
        shown = " ".join(self.words)
        shown = shown if len(shown) <= SHOWN else f"{shown[:SHOWN]}..."
        raise ValueError(f"{self.file}, line {self.number}: expected {expected}, got '{shown}'")

    def whole(self, place: int, what: str, least: int = 0, most: int = 1 << 62) -> int:
        """A whole number."""
        word = self.words[place] if place < len(self.words) else ""
        number = int(word) if word.isdecimal() and len(word) < SHOWN else -1
        if not least <= number <= most:
            upper = f" to {most:,}" if most < 1 << 62 else " or more"
            self.refuse(f"{what}, a whole number of {least}{upper}, as word {place + 1}")
        return number


def lines(file: Path, comment: str = "#") -> Iterator[Line]:
    """The lines that have words, one by one. Raises ValueError, or OSError."""
    number = 0
    try:
        with file.open(encoding="utf-8-sig") as text:
            for number, line in enumerate(_each(file, text), start=1):
                if words := (line.partition(comment)[0] if comment in line else line).split():
                    yield Line(file, number, words)
    except UnicodeDecodeError:
        raise ValueError(f"{file}, after line {number}: expected UTF-8 text") from None


def _each(file: Path, text: TextIO) -> Iterator[str]:
    number = 0
    while line := text.readline(LONGEST):
        number += 1
        if len(line) == LONGEST:
            raise ValueError(f"{file}, line {number}: expected a line of less than {LONGEST:,} characters")
        yield line


def first(file: Path) -> Line:
    """The first line with words, or an empty one. Raises ValueError, or OSError."""
    return next(lines(file), Line(file, 1, []))
