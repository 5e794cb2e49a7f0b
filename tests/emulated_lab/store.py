"""What the fakes of one host know: one JSON file, changed under a lock by commands and by the file system alike."""

from __future__ import annotations

import fcntl
import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

State = dict[str, Any]
HOME = Path("/run/lab")


class Store:
    """``folder`` holds state.json, and calls.jsonl: every command and every write that the fakes saw."""

    def __init__(self, folder: Path = HOME) -> None:
        self.folder = folder
        self.path = folder / "state.json"
        self.calls = folder / "calls.jsonl"

    def read(self) -> State:
        state: State = json.loads(self.path.read_text())
        return state

    @contextmanager
    def edit(self) -> Iterator[State]:
        """The state, to be changed; written as a whole when the block ends without an exception."""
        with (self.folder / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            state = self.read()
            yield state
            self.write(state)

    def write(self, state: State) -> None:
        fresh = self.folder / f"state.{os.getpid()}"
        fresh.write_text(json.dumps(state, indent=1))
        fresh.rename(self.path)

    def log(self, kind: str, what: list[str]) -> None:
        """``kind``: command, write or refused (a write that got an error)."""
        with self.calls.open("a") as calls:
            calls.write(json.dumps({"time": time.time(), "kind": kind, "what": what}) + "\n")
