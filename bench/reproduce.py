"""All published tables, the quick part of each: `testbed reproduce all` on the virtual engine."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator

from bench import command
from bench.measure import Row

MINUTES = 15.0  # issue 23, on two cores
REPRODUCE = ("reproduce", "all", "--engine", "virtual", "--quick", "--jobs", "2")


def of_reproduce() -> Iterator[Row]:
    """Once: it is long enough to be its own mean."""
    with tempfile.TemporaryDirectory() as folder:
        cost = command.cost(*REPRODUCE, "--out", folder)
    minutes, cpu = cost.wall / 60, cost.cpu / 60
    yield Row(
        f"testbed {' '.join(REPRODUCE)}", f"{minutes:.1f} min", f"<= {MINUTES:g} min", minutes <= MINUTES,
        f"once; CPU: {cpu:.1f} min", {"wall": [cost.wall], "cpu": [cost.cpu]},
    )  # fmt: skip
