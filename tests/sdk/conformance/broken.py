"""Plugins that are broken, and what the suite says of them."""

from __future__ import annotations

from pathlib import Path

from testbed.registry import find
from testbed.sdk.conformance.controllers import Result, check


def checked(kind: str, folder: Path, text: str, only: str | None = None) -> dict[str, Result]:
    file = folder / "broken.py"
    file.write_text(text)
    return {result.name: result for result in check(find(kind, str(file)), only=only)}


def line_of(folder: Path, code: str) -> int:
    lines = (folder / "broken.py").read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if code in line)
