"""The first run of somebody who has just installed the wheel: no compiled programs, no bytecode, no font cache."""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from collections.abc import Iterator
from statistics import median

from bench.command import TESTBED, CommandFailed
from bench.measure import Row, spread

SECONDS = 15.0  # issue 23
REPEATS = 3


def of_first() -> Iterator[Row]:
    """`uvx --from cc_testbed-*.whl testbed run incast-8 --engine virtual` after the download."""
    walls, cpus = zip(*(_first() for _ in range(REPEATS)), strict=True)
    yield Row(
        "first run from a wheel, incast-8, virtual engine", f"{spread(walls, '.1f')} s", f"<= {SECONDS:g} s",
        median(walls) <= SECONDS,
        f"an empty home, nothing compiled, neither C nor Python, with the report; CPU: {spread(cpus, '.1f')} s",
        {"wall": walls, "cpu": cpus},
    )  # fmt: skip


def _first() -> tuple[float, float]:
    """Wall and CPU time, in seconds."""
    with tempfile.TemporaryDirectory() as home:
        empty = {name: f"{home}/{name}" for name in ("TESTBED_CACHE", "PYTHONPYCACHEPREFIX", "XDG_CACHE_HOME")}
        command = [TESTBED, "run", "incast-8", "--engine", "virtual", "--metrics-addr", "none"]
        began = time.perf_counter()
        process = subprocess.Popen(
            command, cwd=home, env={**os.environ, **empty, "HOME": home},
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        _, status, usage = os.wait4(process.pid, 0)
        if status:
            raise CommandFailed(f"{' '.join(command)} ended with {os.waitstatus_to_exitcode(status)}")
        return time.perf_counter() - began, usage.ru_utime + usage.ru_stime
