"""Running the `testbed` command as a user would, in a folder of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

TESTBED = str(Path(sys.executable).parent / "testbed")
COMMAND = ".venv/bin/testbed"  # of a checkout
UNCALIBRATED = ("--set", "rack.calibrate='off'")  # for speeds at which calibration would refuse to begin
BEGINS = "running "  # what the progress says when the experiment begins


class CommandFailed(Exception):
    """The command ended with an error."""


@dataclass(frozen=True)
class Tree:
    """A checkout whose ``testbed`` is run; ``suffix`` tells its rows from those of this one."""

    testbed: str = TESTBED
    suffix: str = ""

    @property
    def ours(self) -> bool:
        """Whether it is this one, to which targets apply."""
        return not self.suffix


def trees(other: Path | None) -> tuple[Tree, ...]:
    """This checkout, and another one to compare with. Raises CommandFailed if that has no ``testbed``."""
    if other is None:
        return (Tree(),)
    if not os.access(other / COMMAND, os.X_OK):
        raise CommandFailed(f"{other} is no checkout that can run: there is no {COMMAND}; run scripts/setup in there")
    return Tree(), Tree(str((other / COMMAND).resolve()), f", {other.resolve().name}")


def run(*arguments: str, testbed: str = TESTBED) -> dict[str, Any]:
    """``testbed run`` and its summary. A degraded result is a result."""
    with tempfile.TemporaryDirectory() as folder:
        command = [testbed, "run", *arguments, "--format", "json", "--out", f"{folder}/out"]
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
    if done.returncode not in {0, 3}:
        raise CommandFailed(f"{' '.join(command)}: {done.stderr.strip()[-500:]}")
    summary: dict[str, Any] = json.loads(done.stdout)
    return summary


@dataclass(frozen=True)
class Cost:
    """What one process and its children took, in seconds."""

    wall: float
    cpu: float  # user and system


def cost(*arguments: str, testbed: Sequence[str] = (TESTBED,), cwd: str | None = None, **environment: str) -> Cost:
    """Run ``testbed`` with these arguments, output discarded. A degraded run costs what it costs.

    Python's bytecode is kept, as users have it.
    """
    began = time.perf_counter()
    process = subprocess.Popen(
        [*testbed, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        cwd=cwd, env={**os.environ, "PYTHONDONTWRITEBYTECODE": "", **environment},
    )  # fmt: skip
    _, status, usage = os.wait4(process.pid, 0)
    if (code := os.waitstatus_to_exitcode(status)) not in {0, 3}:
        raise CommandFailed(f"testbed {' '.join(arguments)} ended with {code}")
    return Cost(time.perf_counter() - began, usage.ru_utime + usage.ru_stime)


def seconds_until_it_begins(*arguments: str) -> float:
    """Wall time from calling ``testbed run`` until the experiment begins; waits for its end."""
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        process = subprocess.Popen(
            [TESTBED, "run", *arguments, "--out", f"{folder}/out"],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, cwd=folder,
        )  # fmt: skip
        until_it_begins(process)
        took = time.perf_counter() - began
        process.communicate()
    return took


def until_it_begins(process: subprocess.Popen[str]) -> None:
    """Read its progress until the experiment begins. Raises CommandFailed if it ends before."""
    assert process.stderr is not None
    said: list[str] = []
    while line := process.stderr.readline():
        if line.startswith(BEGINS):
            return
        said.append(line)
    process.wait()
    raise CommandFailed("".join(said)[-500:])
