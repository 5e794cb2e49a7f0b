"""The first run of somebody who has just installed the wheel: no compiled programs, no bytecode, no font cache."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from bench import command
from bench.measure import Row, spread
from tests.support.wheel import Uvx, make, run

SECONDS = 15.0  # issue 23
REPEATS = 3
RUN = ("run", "incast-8", "--engine", "virtual", "--metrics-addr", "none")


def of_first() -> Iterator[Row]:
    """`uvx --from cc_testbed-*.whl testbed run incast-8 --engine virtual` after the download."""
    with tempfile.TemporaryDirectory() as folder:
        uvx = Uvx.of(make(Path(folder)), Path(folder))
        run(*uvx("testbed", "version"), cwd=Path(folder), **uvx.environment)  # downloads
        costs = [_first(uvx) for _ in range(REPEATS)]
    walls, cpus = [one.wall for one in costs], [one.cpu for one in costs]
    yield Row(
        "first run from a wheel by uvx, incast-8, virtual engine", f"{spread(walls, '.1f')} s", f"<= {SECONDS:g} s",
        median(walls) <= SECONDS,
        f"after the download, an empty home, nothing compiled, neither C nor Python, with the report; "
        f"CPU: {spread(cpus, '.1f')} s",
        {"wall": walls, "cpu": cpus},
    )  # fmt: skip


def _first(uvx: Uvx) -> command.Cost:
    with tempfile.TemporaryDirectory() as home:
        return command.cost(*RUN, testbed=uvx("testbed"), cwd=home, **uvx.clean(Path(home)))
