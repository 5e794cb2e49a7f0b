"""What can be at a path of a fake tree."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tests.emulated_lab.store import State


@dataclass(frozen=True)
class File:
    """An attribute of one value. ``write`` raises OSError for what the driver would refuse; None: read-only."""

    read: Callable[[State], str]
    write: Callable[[State, str], None] | None = None
    mode: int = 0o644

    @property
    def permissions(self) -> int:
        return self.mode if self.write is not None else self.mode & 0o444


@dataclass(frozen=True)
class Link:
    """A symbolic link."""

    target: str


Entry = File | Link
Tree = dict[str, Entry]


def constant(text: str) -> File:
    """A read-only file that never changes."""
    return File(lambda _state: f"{text}\n")


def under(folder: str, tree: Tree) -> Tree:
    """The same tree, one folder deeper."""
    return {f"{folder}/{path}": entry for path, entry in tree.items()}
