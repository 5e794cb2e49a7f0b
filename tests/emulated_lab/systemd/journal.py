"""What units printed: one JSON object a line, for `fakes.journalctl`."""

from __future__ import annotations

import asyncio
import json
import os
import time
from pathlib import Path

JOURNAL = Path("/run/lab/journal.jsonl")


def write(unit: str, text: str, pid: int = 1, who: str = "systemd") -> None:
    entry = {"time": time.time(), "unit": unit, "pid": pid, "who": who, "text": text}
    with JOURNAL.open("a") as journal:
        journal.write(json.dumps(entry) + "\n")


def pipe(unit: str, loop: asyncio.AbstractEventLoop) -> int:
    """The end for a process to write to; its lines go into the journal until all who hold it are gone."""
    ours, theirs = os.pipe()
    rest = b""

    def read() -> None:
        nonlocal rest
        data = os.read(ours, 65536)
        *lines, rest = (rest + data).split(b"\n")
        if not data:
            loop.remove_reader(ours)
            os.close(ours)
            lines = [rest] if rest else []
        for line in lines:
            write(unit, line.decode(errors="replace"), who=unit.rpartition(".")[0])

    loop.add_reader(ours, read)
    return theirs
