"""What installed packages offer; all of them are read once, and not for every plugin of every cell of a sweep."""

from __future__ import annotations

import sys
from functools import lru_cache
from importlib import metadata
from pathlib import Path


def entry_points(group: str) -> metadata.EntryPoints:
    """The entry points of a group, also of a package that has just been installed."""
    return _of_group(group, tuple((folder, _changed(folder)) for folder in sys.path))


@lru_cache(32)
def _of_group(group: str, folders: tuple[tuple[str, int], ...]) -> metadata.EntryPoints:
    return _read(folders).select(group=group)


@lru_cache(1)
def _read(_folders: tuple[tuple[str, int], ...]) -> metadata.SelectableGroups:  # from Python 3.12 on, EntryPoints
    return metadata.entry_points()


def _changed(folder: str) -> int:
    try:
        return Path(folder).stat().st_mtime_ns
    except OSError:  # not every entry of sys.path exists
        return 0
