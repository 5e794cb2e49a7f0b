"""Which racks run on this machine, and the namespaces of their hosts and switches.

The process of a run that holds the namespaces says so in a memfd, which other processes find under /proc. So nothing
is left behind when that process is gone, however it ended.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Self

from testbed.errors import BadInput, nearest

MEMFD = "testbed-rack"
FIRST_PROCESS = re.compile(r"^NSpid:.*\t1$", re.MULTILINE)  # of a PID namespace


class RackNode(NamedTuple):
    """A host or a switch."""

    name: str
    address: str  # empty for a switch
    netns: int  # descriptor, in the process that holds it


@dataclass(frozen=True)
class RunningRack:
    """A rack seen from outside."""

    name: str  # of the results folder
    nodes: tuple[RackNode, ...]
    process: int  # descriptor of /proc/PID, which never becomes another process's

    @classmethod
    def all(cls) -> list[Self]:
        """Those of all runs, by name. Only root sees them."""
        found = [cls._read(process) for process in Path("/proc").iterdir() if process.name.isdecimal()]
        return sorted((one for one in found if one), key=lambda rack: rack.name)

    @classmethod
    def _read(cls, process: Path) -> Self | None:
        with suppress(OSError):  # a process that ends meanwhile has none
            if not FIRST_PROCESS.search((process / "status").read_text()):
                return None  # a child of the one that is meant has its files as well
            for file in (process / "fd").iterdir():
                if str(file.readlink()).startswith(f"/memfd:{MEMFD} "):
                    told = json.loads(file.read_bytes())
                    nodes = tuple(RackNode(*node) for node in told["nodes"])
                    return cls(told["run"], nodes, os.open(process, os.O_RDONLY | os.O_DIRECTORY))
        return None

    def node(self, name: str) -> RackNode:
        """Raises BadInput with the nearest name."""
        for node in self.nodes:
            if node.name == name:
                return node
        known = [one.name for one in self.nodes]
        raise BadInput(f"'{self.name}' has no host or switch '{name}'; {nearest(name, known)}")


def publish(run: str, nodes: Iterator[RackNode]) -> None:
    """From now on `RunningRack.all` finds this process, until it ends."""
    memfd = os.memfd_create(MEMFD)
    os.write(memfd, json.dumps({"run": run, "nodes": list(nodes)}).encode())
