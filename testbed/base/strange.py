"""Text that others have written, made fit for a terminal and for a file's name.

A control character could move the cursor, retitle the window or write over what stands there; a direction mark could
show a name as another one. Both are shown as Python writes them: ``\\x1b``.
"""

from __future__ import annotations

import re
from itertools import accumulate
from typing import Any

LINE, LINES, MOST = 2000, 100, 20_000  # characters of an error's line, lines, characters; more is a file's content
_HIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_IN_FILE_NAMES = re.compile(r"[^A-Za-z0-9.=+_-]+")


def is_plain(text: str) -> bool:
    """Whether everything in it can be seen as it is; line breaks and tabs can."""
    return _HIDDEN.search(text) is None


def visible(text: str) -> str:
    """The text, without what acts on whoever shows it."""
    return _HIDDEN.sub(lambda found: found[0].encode("unicode_escape", "surrogatepass").decode(), text)


def message(text: str) -> str:
    """The text as an error shows it: visible, of a word of a million characters how it begins and ends."""
    lines = visible(text).split("\n")
    shown = [one if len(one) <= LINE else f"{one[: LINE // 2]} ... {one[-LINE // 2 :]}" for one in lines[:LINES]]
    shown = shown[: sum(length <= MOST for length in accumulate(map(len, shown)))]
    rest = [f"... and {len(lines) - len(shown):,} lines more"] if len(lines) > len(shown) else []
    return "\n".join([*shown, *rest])


def all_visible(value: Any) -> Any:
    """The same for every text in what JSON holds, keys as well."""
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, dict):
        return {visible(key): all_visible(part) for key, part in value.items()}
    return [all_visible(part) for part in value] if isinstance(value, list) else value


def file_name(text: str) -> str:
    """A name for a file, which is in no other folder."""
    return _IN_FILE_NAMES.sub("-", text)
