"""What a node of a cluster does for a sweep: says what it has, and runs a cell in a folder that is gone afterwards.

Imports little, for each node's worker does so before its first cell, on the core that the cell is to have.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from testbed.errors import TestbedError
from testbed.results.versions import versions
from testbed.runs.sweep.forks import Forks
from testbed.runs.sweep.workers import POLL_SECONDS

PACKAGES = ("testbed", "testbed_controllers", "testbed_plugins", "testbed_topologies")
THEIR_OWN = ("kernel", "commit")  # the same code may run on another kernel, and the code's digest says more


@dataclass(frozen=True)
class Returned:
    """A cell that has run on a node: its exit code, wall seconds, what it said, its folder's files."""

    status: int
    seconds: float
    log: bytes
    files: dict[str, bytes]


def about(directory: str) -> dict[str, str]:
    """What must be equal on all nodes, in words."""
    code = hashlib.sha256()
    for name, file in sorted(_code()):
        code.update(name.encode() + b"\0" + hashlib.sha256(file.read_bytes()).digest())
    found = {what: version for what, version in versions().items() if what not in THEIR_OWN}
    return found | {
        "testbed's code": code.hexdigest()[:12],
        f"the folder {directory}": "there" if Path(directory).is_dir() else "missing",
    }


def _code() -> Iterator[tuple[str, Path]]:
    """Every file of testbed's own packages, with its name from there on."""
    for package in PACKAGES:
        spec = find_spec(package)
        for root in spec.submodule_search_locations or [] if spec else []:
            yield from ((f"{package}/{file.relative_to(root)}", file) for file in _files(Path(root)))


def run(name: str, arguments: Sequence[str], directory: str) -> Returned:
    """A cell with its arguments, from beginning to end. Cancelled by Ray, it ends at once."""
    began = time.monotonic()
    with _room() as room, closing(Forks()) as forks:
        path, log = room / name, room / "log.txt"
        log.touch()
        forks.start(name, arguments, path, log, directory)
        while not (over := forks.ended()):
            time.sleep(POLL_SECONDS)  # where Ray's cancel gets through, which it does not in a wait()
        files = {str(file.relative_to(path)): file.read_bytes() for file in _files(path)}
        return Returned(over[0][1], time.monotonic() - began, log.read_bytes(), files)


@contextmanager
def _room() -> Iterator[Path]:
    """A folder that is removed also if this process is killed, as Ray does: by a shell that sees it end."""
    room = tempfile.mkdtemp(prefix="testbed-cell-")
    wait = ["/bin/sh", "-c", 'read -r _; rm -rf "$1"', "sh", room]
    with subprocess.Popen(wait, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, start_new_session=True):
        yield Path(room)


def write(files: Mapping[str, bytes], folder: Path) -> None:
    """Make the folder, complete at once: by a rename."""
    unfinished = folder.with_name(f".{folder.name}-{os.getpid()}")
    for name, content in files.items():
        file = unfinished / name
        if not file.is_relative_to(unfinished) or ".." in file.parts:
            raise TestbedError(f"a node returned the file {name!r}, which is in no results folder")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    unfinished.rename(folder)


def _files(folder: Path) -> Iterator[Path]:
    return (file for file in folder.rglob("*") if file.is_file() and "__pycache__" not in file.parts)
