"""Why a file that a user named cannot be read: it is not there, nor is its folder, or it is a folder."""

from __future__ import annotations

import difflib
from pathlib import Path


def why_missing(given: str, file: Path) -> str:
    """To say behind the name; ``file`` is where it was looked for. Names the nearest file of that kind beside it."""
    file = file.expanduser().absolute()
    if file.is_dir():
        return "is a folder; name a file"
    if not file.parent.is_dir():
        return f"does not exist: there is no folder {file.parent}"
    looked = f" (looked at {file})" if str(file) != given else ""
    beside = [one.name for one in sorted(file.parent.iterdir()) if one.suffix == file.suffix and one.is_file()]
    close = difflib.get_close_matches(file.name, beside, n=1)
    return f"does not exist{looked}" + (f"; did you mean '{close[0]}'?" if close else "")
