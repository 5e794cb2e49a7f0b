"""Runs experiments through the command line, as a user does, and reads their summaries.

Physics is asserted of runs that the tool itself calls clean: the machine that runs the tests may be busy for a while.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

ATTEMPTS = 4


def run(folder: Path, *arguments: str) -> dict[str, Any]:
    """The summary of one run, clean or not."""
    command = [sys.executable, "-m", "testbed", "run", *arguments, "--format", "json", "--out", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode in (0, 3), done.stderr
    summary: dict[str, Any] = json.loads(done.stdout)
    return summary


def run_clean(folder: Path, *arguments: str) -> dict[str, Any]:
    """The summary of the first clean run of a few attempts."""
    for attempt in range(ATTEMPTS):
        summary = run(folder / f"attempt-{attempt}", *arguments)
        if not summary["verdict"]["reasons"]:
            return summary
    raise AssertionError(f"no clean run in {ATTEMPTS} attempts: {summary['verdict']}")
