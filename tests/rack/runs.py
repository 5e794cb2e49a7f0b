"""Runs experiments through the command line, as a user does, and reads their summaries.

Physics is asserted of runs that the tool itself calls clean: the machine that runs the tests may be busy for a while.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

SLOWER = (1, 1, 2, 3)  # than asked for, by attempt: at twice the dilation a stall of this machine is half as long
ATTEMPTS = len(SLOWER)
REFUSED = "the rack is not what was asked for"
UNCALIBRATED = ("--set", "rack.calibrate=off")  # where links are not tested: a busy machine must not refuse them
# What others took from the cores. Where it made anything late, another reason says so.
BUSY = "a core was short of time"


class Refused(Exception):
    """Calibration found a link that is not what was asked for: this machine was busy."""


def run(folder: Path, *arguments: str) -> dict[str, Any]:
    """The summary of one run, clean or not."""
    command = [sys.executable, "-m", "testbed", "run", *arguments, "--format", "json", "--out", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    if done.returncode == 1 and REFUSED in done.stderr:
        raise Refused(done.stderr)
    assert done.returncode in (0, 3), done.stderr
    summary: dict[str, Any] = json.loads(done.stdout)
    return summary


def run_clean(folder: Path, *arguments: str) -> dict[str, Any]:
    """The summary of the first clean run of a few attempts, which get slower: results do not depend on the dilation.

    From the second attempt on, a busy core in which nothing was late will do. The results are in ``folder / "clean"``.
    """
    seen = []
    for attempt, slower in enumerate(SLOWER):
        dilation = ("--dilation", f"{slower * _dilation(arguments):g}")
        try:
            summary = run(folder / f"attempt-{attempt}", *arguments, *dilation)
        except Refused as refused:
            seen.append(str(refused))
            continue
        reasons = {reason["what"] for reason in summary["verdict"]["reasons"]}
        if not reasons or (attempt and reasons == {BUSY}):
            (folder / f"attempt-{attempt}").rename(folder / "clean")
            return summary
        seen.append(str(summary["verdict"]))
    raise AssertionError("no clean run:\n" + "\n".join(seen))


def _dilation(arguments: tuple[str, ...]) -> float:
    if "--dilation" in arguments:
        return float(arguments[arguments.index("--dilation") + 1])
    return 1000.0  # the default
