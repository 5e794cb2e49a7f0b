"""The first run of somebody who has just installed the wheel: no compiled programs, no bytecode, no font cache."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from statistics import median

from bench import command
from bench.measure import Row, spread

SECONDS = 15.0  # issue 23
REPEATS = 3


def of_first() -> Iterator[Row]:
    """`uvx --from cc_testbed-*.whl testbed run incast-8 --engine virtual` after the download."""
    costs = [_first() for _ in range(REPEATS)]
    walls, cpus = [one.wall for one in costs], [one.cpu for one in costs]
    yield Row(
        "first run from a wheel, incast-8, virtual engine", f"{spread(walls, '.1f')} s", f"<= {SECONDS:g} s",
        median(walls) <= SECONDS,
        f"an empty home, nothing compiled, neither C nor Python, with the report; CPU: {spread(cpus, '.1f')} s",
        {"wall": walls, "cpu": cpus},
    )  # fmt: skip


def _first() -> command.Cost:
    with tempfile.TemporaryDirectory() as home:
        empty = {name: f"{home}/{name}" for name in ("TESTBED_CACHE", "PYTHONPYCACHEPREFIX", "XDG_CACHE_HOME")}
        run = ("run", "incast-8", "--engine", "virtual", "--metrics-addr", "none")
        return command.cost(*run, cwd=home, HOME=home, **empty)
