"""Reading a host's files, one of which may always be unreadable: that is counted and never raised."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

T = TypeVar("T", bound=BaseModel)


class Files:
    """A host's file system, below ``root``; paths are the host's own."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.errors: Counter[str] = Counter()

    def at(self, path: str) -> Path:
        """Where a path of the host is."""
        return self.root / path.lstrip("/")

    def read(self, path: str) -> str | None:
        """The text without what surrounds it, or None: a file that is not there is no error, any other is."""
        try:
            return self.at(path).read_text(encoding="utf-8", errors="replace").strip()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError:
            self.errors[path] += 1
            return None

    def number(self, path: str) -> int | None:
        """A whole number, decimal or 0x."""
        text = self.read(path)
        if text is None:
            return None
        number = whole(text)
        if number is None:
            self.errors[path] += 1
        return number

    def names(self, path: str) -> list[str]:
        """What a folder has, sorted; nothing if there is no such folder."""
        try:
            return sorted(entry.name for entry in self.at(path).iterdir())
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError:
            self.errors[path] += 1
            return []

    def parsed(self, path: str, form: type[T]) -> T | None:
        """A JSON file of ours, or None if it is not there, or not such a file, which is an error."""
        text = self.read(path)
        if text is None:
            return None
        try:
            return form.model_validate_json(text)
        except ValidationError:
            self.errors[path] += 1
            return None


def whole(text: str) -> int | None:
    """The number that a text is; a leading 0 alone does not make it octal."""
    try:
        return int(text, 16) if text.lower().startswith("0x") else int(text)
    except ValueError:
        return None
