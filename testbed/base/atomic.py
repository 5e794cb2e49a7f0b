"""Files and folders that appear whole or not at all.

Standard library only: Ansible sends a link to this file to hosts as well.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path


def atomic_write(file: Path, content: bytes, mode: int = 0o644, group: str = "", durable: bool = False) -> None:
    """Write beside ``file`` and move into place. Raises OSError, and then nothing has changed.

    ``group`` is given the file, if there is such a group and we may. ``durable``: it survives a power cut after this.
    """
    descriptor, name = tempfile.mkstemp(prefix=f".{file.name}-", dir=file.parent)
    unfinished = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as sink:
            sink.write(content)
            sink.flush()
            if durable:
                os.fsync(sink.fileno())
        if group:
            with contextlib.suppress(LookupError, PermissionError):
                shutil.chown(unfinished, group=group)
        unfinished.chmod(mode)
        unfinished.replace(file)
    finally:
        unfinished.unlink(missing_ok=True)


def folder_once(target: Path, fill: Callable[[Path], None]) -> Path:
    """A folder that ``fill`` fills unless it is there: whole or not at all, whoever else makes it meanwhile."""
    if not target.is_dir():
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=target.parent) as scratch:
            unfinished = Path(scratch) / target.name
            unfinished.mkdir()
            fill(unfinished)
            try:
                unfinished.replace(target)
            except OSError:
                if not target.is_dir():  # or another process was there first
                    raise
    return target
