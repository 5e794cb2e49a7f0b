"""The folder of a lab, with its keys. It is locked while a process of the lab lives, so that the next lab can tell what
one that was killed has left.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PREFIX = "testbed-lab-"


class LabFolder:
    """A new one, for root alone."""

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix=PREFIX))
        self._lock = os.open(self.path, os.O_RDONLY)
        fcntl.flock(self._lock, fcntl.LOCK_EX)  # before anything is in it: see `remove_abandoned`

    def remove(self) -> None:
        """With all that is in it."""
        shutil.rmtree(self.path)
        os.close(self._lock)


def remove_abandoned() -> None:
    """Of labs that were killed. The kernel unlocks a folder when the last process of its lab that has it open ends."""
    for path in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with _unlocked(path) as ours:
            if ours and any(path.iterdir()):  # an empty one may be about to be locked
                shutil.rmtree(path)


@contextmanager
def _unlocked(path: Path) -> Iterator[bool]:
    """Whether nobody has it locked, and nobody will meanwhile."""
    try:
        folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    except FileNotFoundError:
        yield False
        return
    try:
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield True
    except BlockingIOError:
        yield False
    finally:
        os.close(folder)
