"""`testbed` from outside: started as a user's shell starts it, interrupted on the way, its results read."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.support.runs import UNCALIBRATED, UNDRAWN

TESTBED = [sys.executable, "-c", "from testbed.cli.main import main; raise SystemExit(main())"]
SHORT = ("run", "incast-2", "--duration", "400 us", *UNCALIBRATED, *UNDRAWN)
LONG = ("run", "incast-2", "--duration", "300 ms", *UNCALIBRATED, *UNDRAWN)  # minutes: it never gets there here


def run(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """``testbed ...`` to its end; the results are in ``folder / "out"``."""
    done = subprocess.run(
        [*TESTBED, *arguments, "--out", str(folder / "out")],
        capture_output=True, text=True, cwd=folder, env={**os.environ, **environment}, timeout=200, check=False,
    )  # fmt: skip
    assert "Traceback" not in done.stderr, done.stderr
    return done


def start(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    """``testbed ...``, in a process group of its own."""
    return subprocess.Popen(
        [*TESTBED, *arguments, "--out", str(folder / "out")],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder, start_new_session=True,
    )  # fmt: skip


def read_until(process: subprocess.Popen[str], text: str) -> str:
    """Read what it says, until it says ``text``; returns it all."""
    assert process.stderr is not None
    seen = ""
    for line in process.stderr:
        seen += line
        if text in line:
            return seen
    raise AssertionError(f"it never said '{text}'")


def children(pid: int) -> list[int]:
    """The processes that it started, the oldest first."""
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def summary_in(folder: Path) -> dict[str, Any]:
    """What the run has summed up; the manifest must have the same verdict."""
    read: dict[str, Any] = json.loads((folder / "out" / "summary.json").read_text())
    manifest = json.loads((folder / "out" / "manifest.json").read_text())
    assert manifest["verdict"] == read["verdict"]
    return read
