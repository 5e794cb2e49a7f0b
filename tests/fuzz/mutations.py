"""Inputs that are almost right: a file with some of its bits, numbers, words or lines changed."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from hypothesis import strategies as st

LONGEST = 1 << 20  # bytes
ODD = [
    *b"0|-1|1|2.5|1e308|-1e-308|1e999|nan|inf|65536|4294967296|9223372036854775808|1_000|0x10|1:30".split(b"|"),
    *b"null|true|[]|{}|[[]]|{a: 1}|[1, 2]|''|'|\"|\\|\n|#|%|<x>|*a|&a [*a]|!!binary x|2020-01-01||".split(b"|"),
    *b"1 MB|1 Gbit/s|10 us|-5 %|h1|h0|h99999999|../../etc/passwd|/|.|/dev/zero".split(b"|"),
    *"\u0660\u00b2|\u202e|\ufeff|e\u0301|\0|\x1b[2J".encode().split(b"|"),
    *(b"\xff\xfe", b"\xed\xa0\x80", b"A" * 10_000, b"1" + b"0" * 5000),
]
WORD = re.compile(rb"[^\s\[\]{}()<>,:;=\"'/]+")
EXTREMES = [(size, value) for size in (1, 2, 4, 8) for value in (0, 1, 1 << (8 * size - 1), (1 << 8 * size) - 1)]


def _bit(content: bytes, at: int, n: int) -> bytes:
    at %= len(content)
    return content[:at] + bytes([content[at] ^ 1 << n % 8]) + content[at + 1 :]


def _number(content: bytes, at: int, n: int) -> bytes:
    size, value = EXTREMES[n % len(EXTREMES)]
    at %= len(content)
    return content[:at] + value.to_bytes(size, "little" if n & 64 else "big") + content[at + size :]


def _cut(content: bytes, at: int, n: int) -> bytes:
    at %= len(content)
    return content[:at] + content[at + 1 + n % 64 :]


def _end(content: bytes, at: int, _n: int) -> bytes:
    return content[: at % len(content)]


def _again(content: bytes, at: int, n: int) -> bytes:
    """A span many times: deep nesting, long words, many entries."""
    at %= len(content)
    span = content[at : at + 1 + n % 32]
    return content[:at] + span * (2 + n % 3000) + content[at:]


def _word(content: bytes, at: int, n: int) -> bytes:
    return _replaced(content, WORD, at, lambda _words: ODD[n % len(ODD)])


def _other_word(content: bytes, at: int, n: int) -> bytes:
    return _replaced(content, WORD, at, lambda words: words[n % len(words)])


def _line(content: bytes, at: int, n: int) -> bytes:
    """One line is left out, there twice, or elsewhere."""
    lines = content.splitlines(keepends=True)
    one = lines.pop(at % len(lines))
    lines[n % (len(lines) + 1) : 0] = [one] * (n % 3)
    return b"".join(lines)


def _replaced(content: bytes, what: re.Pattern[bytes], at: int, by: Callable[[list[bytes]], bytes]) -> bytes:
    found = list(what.finditer(content))
    if not found:
        return content
    one = found[at % len(found)]
    return content[: one.start()] + by([each[0] for each in found]) + content[one.end() :]


EDITS = (_word, _word, _other_word, _line, _number, _bit, _cut, _end, _again)
_anywhere = st.integers(0, (1 << 32) - 1)


def damaged(seeds: Sequence[bytes]) -> st.SearchStrategy[bytes]:
    """One of the seeds, edited up to six times."""
    edits = st.lists(st.tuples(st.sampled_from(EDITS), _anywhere, _anywhere), min_size=1, max_size=6)
    return st.builds(_edited, st.sampled_from(seeds), edits)


def _edited(content: bytes, edits: list[tuple[Callable[[bytes, int, int], bytes], int, int]]) -> bytes:
    for edit, at, n in edits:
        content = edit(content, at, n)[:LONGEST] or b"\n"
    return content
