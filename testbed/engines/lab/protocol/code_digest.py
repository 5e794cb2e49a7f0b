"""Which testbed this is: its version, and a hash of everything in the package that runs."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

import testbed

SOURCES = {".py", ".c", ".h"}


@cache
def code_digest() -> str:
    """SHA-256 over the names and contents of the package's files: the same on all hosts, or they run different code."""
    root = Path(testbed.__file__).parent
    found = hashlib.sha256()
    for file in sorted(root.rglob("*")):
        if file.suffix in SOURCES and file.is_file():
            content = file.read_bytes()
            found.update(f"{file.relative_to(root)} {len(content)}\n".encode() + content)
    return found.hexdigest()


def identity() -> dict[str, str]:
    """For `testbed agent --identify`, and an agent's first message."""
    return {"version": testbed.__version__, "digest": code_digest()}
