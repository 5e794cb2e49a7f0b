"""What installed packages offer; those of a folder are read once, and not for every plugin of every cell of a sweep."""

from __future__ import annotations

import sys
from functools import lru_cache
from importlib import metadata
from pathlib import Path

OURS = "[testbed."  # what a package with anything for us has in its entry_points.txt: the others are not taken apart


def entry_points(group: str) -> metadata.EntryPoints:
    """The entry points of a group, also of a package that has just been installed."""
    found: dict[str, metadata.EntryPoints] = {}  # by package
    for folder in sys.path:
        found = _of_folder(folder, _changed(folder)) | found  # what is further ahead hides what is called the same
    return metadata.EntryPoints(entry for each in found.values() for entry in each if entry.group == group)


@lru_cache(64)
def _of_folder(folder: str, _changed: int) -> dict[str, metadata.EntryPoints]:
    every = metadata.distributions(path=[folder])
    return {
        one.metadata["Name"]: one.entry_points for one in every if OURS in (one.read_text("entry_points.txt") or "")
    }


def _changed(folder: str) -> int:
    try:
        return Path(folder).stat().st_mtime_ns
    except OSError:  # not every entry of sys.path exists
        return 0
