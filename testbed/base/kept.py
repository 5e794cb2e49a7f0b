"""The cache of what is compiled: whoever wants a file that another process is making waits, and the oldest ones go."""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

MOST = 256e6  # bytes of a folder
YOUNG = 24 * 3600.0  # s: what was used since then stays, since somebody may be about to open it


def made_once(target: Path, make: Callable[[], None]) -> Path:
    """``target``; if it is not there ``make`` makes it, whole or not at all: one process, and one thread, at a time."""
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        with _alone_with(target.with_name(f".{target.name}.lock")):
            if not target.exists():
                make()
                _keep_bounded(target.parent)
    elif time.time() - target.stat().st_mtime > YOUNG / 2:
        with contextlib.suppress(OSError):  # in a cache that is not ours
            os.utime(target)
    return target


@contextlib.contextmanager
def _alone_with(lock: Path) -> Iterator[None]:
    while True:
        descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        with contextlib.suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(descriptor), lock.stat()):
                break
        os.close(descriptor)  # who had it before has removed it, and somebody may have made another one
    try:
        yield
    finally:
        lock.unlink(missing_ok=True)
        os.close(descriptor)


def _keep_bounded(folder: Path) -> None:
    """Also what a compiler left unfinished goes one day."""
    found = []
    for entry in os.scandir(folder):
        with contextlib.suppress(FileNotFoundError):  # gone meanwhile
            if entry.is_file(follow_symlinks=False):
                found.append((entry.stat().st_mtime, entry.stat().st_size, entry.path))
    total, limit = sum(size for _, size, _ in found), time.time() - YOUNG
    for used, size, path in sorted(found):
        if total <= MOST or used > limit:
            break
        with contextlib.suppress(FileNotFoundError, PermissionError):
            Path(path).unlink()
        total -= size
