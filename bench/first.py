"""The first run of somebody who has just installed the wheel, or has a checkout: nothing is compiled."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from bench import command
from bench.measure import Row, spread
from tests.support.wheel import Uvx, make, run

SECONDS = 15.0  # issue 23
FIRST, NEXT = 2.0, 0.7  # s, issue 44
REPEATS = 3
RUN = ("run", "incast-8", "--engine", "virtual", "--metrics-addr", "none")


def of_first() -> Iterator[Row]:
    """Of the wheel, and of this checkout."""
    yield from _of_checkout()
    yield from _of_wheel()


def _of_checkout() -> Iterator[Row]:
    """1 ms with an empty cache, and then with what that run has left there, in turns."""
    walls: dict[str, list[float]] = {"first": [], "next": []}
    for _ in range(REPEATS):
        with tempfile.TemporaryDirectory() as folder:
            for seconds in walls.values():
                cost = command.cost(*RUN, "--duration", "1 ms", cwd=folder, TESTBED_CACHE=f"{folder}/cache")
                seconds.append(cost.wall)
    for (which, seconds), most in zip(walls.items(), (FIRST, NEXT), strict=True):
        yield Row(
            f"{which} run of 1 ms, incast-8, virtual engine, from this checkout", f"{spread(seconds, '.2f')} s",
            f"<= {most:g} s", median(seconds) <= most, values={"wall": seconds},
        )  # fmt: skip


def _of_wheel() -> Iterator[Row]:
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
