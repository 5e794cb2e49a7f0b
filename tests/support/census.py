"""What exists on this machine that a run could leave behind: counted before and after every root test.

A run lives in namespaces of its own, so most of it cannot be seen from outside at all; but a namespace itself, a
process in it, or a link, mount or pin that escaped would be.
"""

from __future__ import annotations

import os
import time
import uuid
from dataclasses import dataclass, fields
from pathlib import Path

from pyroute2 import IPRoute

SETTLE = 15.0  # s that the kernel of a busy machine may take to clear a dead namespace away
NAMESPACES = ("net", "pid", "mnt")
BPF_FS = Path("/sys/fs/bpf")
MARK = f"TESTBED_TEST_SESSION_{os.environ.get('PYTEST_XDIST_WORKER', '')}"  # each worker's own: others may be at work
os.environ.setdefault(MARK, uuid.uuid4().hex)


@dataclass(frozen=True)
class Census:
    """Everything that was there at one moment."""

    links: frozenset[str]
    namespaces: frozenset[str]
    processes: frozenset[str]
    mounts: frozenset[str]
    pins: frozenset[str]

    @classmethod
    def take(cls) -> Census:
        namespaces, processes = _processes()
        with IPRoute() as ip:
            links = frozenset(str(link.get("ifname")) for link in ip.get_links())
        mounts = frozenset(line.split()[1] for line in Path("/proc/self/mounts").read_text().splitlines())
        pins = frozenset(str(pin) for pin in BPF_FS.rglob("*")) if BPF_FS.is_dir() else frozenset()
        return cls(links, namespaces, processes, mounts, pins)

    def leftovers(self, wait: float = SETTLE) -> list[str]:
        """What is there now and was not then. The kernel and dying processes get ``wait`` seconds."""
        deadline = time.monotonic() + wait
        while True:
            left = self._difference(Census.take())
            if not left or time.monotonic() > deadline:
                return left
            time.sleep(0.1)

    def _difference(self, now: Census) -> list[str]:
        return [
            f"{field.name}: {thing}"
            for field in fields(self)
            for thing in sorted(getattr(now, field.name) - getattr(self, field.name))
        ]


def _processes() -> tuple[frozenset[str], frozenset[str]]:
    """Namespaces of the processes that this test session started, and the processes.

    Everything that we start inherits `MARK`, also what lost its parent on the way. Other programs of this machine
    may come and go meanwhile; they are not ours to blame.
    """
    ours: dict[int, str] = {}
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdecimal() and _is_marked(entry):
                ours[int(entry.name)] = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:  # it ended while we looked, or it is not ours to read
            continue
    processes = frozenset(f"{pid}: {command.strip()}" for pid, command in ours.items())
    namespaces = frozenset(space for pid in [*ours, os.getpid()] for space in _namespaces(pid))
    return namespaces, processes


def _is_marked(entry: Path) -> bool:
    mark = f"{MARK}={os.environ[MARK]}".encode()
    return mark in (entry / "environ").read_bytes().split(b"\0")


def _namespaces(pid: int) -> list[str]:
    found = []
    for kind in NAMESPACES:
        try:
            found.append(str(Path(f"/proc/{pid}/ns/{kind}").readlink()))
        except OSError:
            continue
    return found
