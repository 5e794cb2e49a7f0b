"""`testbed` from outside: started as a user's shell starts it, interrupted on the way, its results read."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

from tests.support.commands import Command, command
from tests.support.runs import UNCALIBRATED, UNDRAWN

TESTBED = [sys.executable, "-c", "from testbed.cli.main import main; raise SystemExit(main())"]
SHORT = ("run", "incast-2", "--duration", "400 us", *UNCALIBRATED, *UNDRAWN)
# Of 20 minutes, so it never gets there, and with few packets per second.
LONG = ("run", "incast-2", "--duration", "300 ms", "--dilation", "4000", *UNCALIBRATED, *UNDRAWN)


def run(folder: Path, *arguments: str, **environment: str) -> CompletedProcess[str]:
    """``testbed ...`` to its end; the results are in ``folder / "out"``."""
    return command(*arguments, "--out", str(folder / "out"), cwd=folder, **environment)


def start(folder: Path, *arguments: str) -> Command:
    """``testbed ...``, in a process group of its own."""
    return Command(*arguments, "--out", str(folder / "out"), cwd=folder, session=True)


def children(pid: int) -> list[int]:
    """The processes that it started, the oldest first."""
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def summary_in(folder: Path) -> dict[str, Any]:
    """What the run has summed up; the manifest must have the same verdict."""
    read: dict[str, Any] = json.loads((folder / "out" / "summary.json").read_text())
    manifest = json.loads((folder / "out" / "manifest.json").read_text())
    assert manifest["verdict"] == read["verdict"]
    return read
