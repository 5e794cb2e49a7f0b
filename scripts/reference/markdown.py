"""Where the generated pages are, and their lists."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]
REFERENCE = ROOT / "docs/reference"


def entries(rows: Iterable[tuple[str, str, str]]) -> list[str]:
    """A list of what has a default, and an empty line; nothing without rows."""
    lines = [f"* {name}{default and f' ({default})'}: {meaning}" for name, default, meaning in rows]
    return [*lines, ""] if lines else []


def listed(names: Sequence[str], among: Sequence[str]) -> str:
    """Some of those that a list has, in its order: `a` to `d` if they are neighbours."""
    first = among.index(names[0])
    if len(names) > 3 and [*names] == [*among[first : first + len(names)]]:
        return f"`{names[0]}` to `{names[-1]}`"
    return ", ".join(f"`{name}`" for name in names)
