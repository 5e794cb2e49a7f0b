"""Files that an experiment names by their path: copies of them travel with its results, as they were.

Plugins, the classes of a notebook, traces, size distributions, racks, policies. A folder travels as an archive. What is
installed does not travel: the manifest has its version and SHA-256.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from testbed.base import code
from testbed.base.inputs import Input
from testbed.experiment.resolved import Resolved
from testbed.results.manifest import Manifest

FOLDER = "files"  # of a results folder


def brought(resolved: Resolved, inputs: Sequence[Input]) -> dict[str, bytes]:
    """Content by path, of what the experiment names."""
    plugins = [*(one.plugin for one in resolved.deciders), resolved.tuner]
    named = _texts(resolved.as_dict())
    files = [*(one.file for one in plugins), *(one.file for one in inputs)]
    return {str(file): code.content(file) for file in dict.fromkeys(files) if str(file) in named}


def names(paths: Sequence[str]) -> dict[str, str]:
    """What each file is called among the copies: as it was called, with a number where two are called the same."""
    found: dict[str, str] = {}
    for path in paths:
        name = Path(path).name + (code.ARCHIVE if Path(path).is_dir() else "")
        found[path] = name if name not in found.values() else f"{len(found)}-{name}"
    return found


def keep(run: Path, content: Mapping[str, bytes]) -> None:
    """Write the copies into a results folder."""
    if content:
        (run / FOLDER).mkdir()
    for path, name in names([*content]).items():
        (run / FOLDER / name).write_bytes(content[path])


def experiment(run: Path, manifest: Manifest, *, originals: bool = False) -> dict[str, Any]:
    """What a result's manifest holds, with the copies' paths in the place of the files'.

    ``originals``: only of files that are gone.
    """
    copies = {path: run / FOLDER / name for path, name in manifest.files.items()}
    there = {
        path: str(copy.resolve())
        for path, copy in copies.items()
        if copy.is_file() and not (originals and Path(path).exists())
    }
    moved: dict[str, Any] = _moved(manifest.experiment, there)
    return moved


def changed(run: Path, manifest: Manifest) -> list[str]:
    """Paths of files that are not as they were, while the copies are."""
    copies = ((Path(path), run / FOLDER / name) for path, name in manifest.files.items())
    return [
        str(file)
        for file, copy in copies
        if file.exists() and copy.is_file() and code.digest(file) != code.digest(copy)
    ]


def _texts(value: Any) -> set[str]:
    """All texts, those before a colon as well: a plugin is named ``file.py:Class``."""
    if isinstance(value, str):
        return {value, value.partition(":")[0]}
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return {text for part in parts for text in _texts(part)}


def _moved(value: Any, paths: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        path, colon, rest = value.partition(":")
        return paths.get(value) or paths.get(path, path) + colon + rest
    if isinstance(value, dict):
        return {key: _moved(part, paths) for key, part in value.items()}
    return [_moved(part, paths) for part in value] if isinstance(value, list) else value
