"""Runs on this machine that can be edited, as others find and reach them."""

from __future__ import annotations

import json
import os
import re
import socket
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from testbed.base.strange import all_visible
from testbed.errors import BadInput, TestbedError
from testbed.experiment.events import Value

PLACE = "\0testbed-run/"
LONGEST = 107  # bytes of an address
LISTED = re.compile(r" @testbed-run/(\d+)/(.+)$")  # in /proc/net/unix
CREDENTIALS = struct.Struct("3i")  # process, user, group
SECONDS = 20.0  # for an answer: a run looks five times a second, unless it is stopped
MOST_BYTES = 1 << 13  # of an edit: it reaches the run in one piece, whoever else writes to it


def address_of(run: str, process: int) -> bytes:
    """``run``: the name of its results folder."""
    return f"{PLACE}{process}/{run}".encode()[:LONGEST]


def user_of(peer: socket.socket) -> int:
    """Who is at the other end, as the kernel knows it."""
    return int(CREDENTIALS.unpack(peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, CREDENTIALS.size))[1])


@dataclass(frozen=True)
class ReachedRun:
    """One that goes on."""

    name: str
    process: int

    @classmethod
    def all(cls) -> list[ReachedRun]:
        """Of all users, by name."""
        lines = Path("/proc/net/unix").read_text(errors="replace").splitlines()
        found = {cls(listed[2], int(listed[1])) for line in lines if (listed := LISTED.search(line))}
        return sorted(found, key=lambda run: (run.name, run.process))

    def edit(self, settings: Mapping[str, Value]) -> dict[str, Any]:
        """Its answer: ``at`` (nominal s) and ``what``. Raises BadInput for what cannot be."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as server:
            server.settimeout(SECONDS)
            try:
                server.connect(address_of(self.name, self.process))
                if os.geteuid() != 0 and user_of(server) not in (0, os.geteuid()):
                    raise BadInput(f"the run '{self.name}' is another user's")
                server.sendall(json.dumps({"set": dict(settings)}).encode() + b"\n")
                with server.makefile("rb") as lines:
                    answer = json.loads(lines.readline(MOST_BYTES))
            except (OSError, ValueError):
                raise TestbedError(f"the run '{self.name}' has ended, or does not answer") from None
        told = all_visible(answer)
        if not isinstance(told, dict) or not ("problem" in told or {"at", "what"} <= told.keys()):
            raise TestbedError(f"the run '{self.name}' is of another version of testbed")
        if "problem" in told:
            raise BadInput(f"'{self.name}': {told['problem']}")
        return told
