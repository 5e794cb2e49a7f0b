"""What `testbed score` takes, for each shipped controller."""

from __future__ import annotations

from collections.abc import Iterator

from bench import command
from bench.measure import Row, spread
from testbed.registry import names as installed

SECONDS = 30  # wall, on two cores: issue 21


def of_score() -> Iterator[Row]:
    """`testbed score NAME`, suite `quick`, seed 1; what is compiled stays compiled from one to the next."""
    costs = {name: command.cost("score", name) for name in sorted(installed("controller"))}
    slowest = max(costs, key=lambda name: costs[name].wall)
    walls, cpus = [one.wall for one in costs.values()], [one.cpu for one in costs.values()]
    yield Row(
        f"testbed score, the slowest of {len(costs)} controllers", f"{costs[slowest].wall:.1f} s", f"<= {SECONDS} s",
        costs[slowest].wall <= SECONDS, f"{slowest}; all: {spread(walls, '.1f')} s, CPU {spread(cpus, '.1f')} s",
        {name: [one.wall, one.cpu] for name, one in costs.items()},
    )  # fmt: skip
