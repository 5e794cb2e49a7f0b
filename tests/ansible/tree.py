"""Settings as a kernel has them: a tree of plain files."""

from __future__ import annotations

from pathlib import Path

from lab_settings.target import Target


def tree(target: Target, folder: str, **values: str) -> Path:
    """Files as a kernel has them: text and newline."""
    path = target.path(folder)
    for name, value in values.items():
        file = path / name.replace("__", "/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{value}\n")
    return path
